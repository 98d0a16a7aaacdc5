package agent

import (
	"context"
	"crypto/ed25519"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/account"
	"rackboot/agent/boot"
	"rackboot/agent/files"
	"rackboot/agent/guard"
	"rackboot/agent/heartbeat"
	"rackboot/agent/local"
	"rackboot/agent/store"
	"rackboot/agent/trace"
	"rackboot/bmc"
	"rackboot/netboot"
	"rackboot/netboot/attest/enrol"
	"rackboot/netboot/mirror"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state"
	"rackboot/state/blob"
)

// Config is everything that an agent is made of.
type Config struct {
	Agent   string // id, given by the hub at join
	Rack    string
	Version string
	// Beats are where heartbeats go to the other agent of the rack; OpenBeat opens their sockets, and is
	// heartbeat.Listen but in tests.
	Beats    []heartbeat.Line
	OpenBeat func(heartbeat.Line) (net.PacketConn, error)
	// Standby is the term of an agent that joined to stand by; 0 of others.
	Standby uint64
	// Host and Addresses are where the agent runs, for people; Place is where its disk is, another
	// one on each host and for each copy on one.
	Host      string
	Addresses []string
	Place     string

	// Metrics is where others reach the agent's metrics page; empty is nowhere.
	Metrics protocol.MetricsAddress

	DB state.Store
	// Guard has the guard set and the guard mode, which outlive DB; nil keeps them in memory, for
	// tests. With one, Run ends with [ErrStore] where DB has to be opened anew.
	Guard  *guard.Guard
	Blobs  *blob.Store
	Signer *wire.Signer
	// HubKeys sign documents and grants.
	HubKeys []ed25519.PublicKey
	// Destructive is what destructive actions need besides.
	Destructive Destructive
	// Credentials reads local BMC credentials by name.
	Credentials account.Local
	// Secrets opens what the hub seals for the agent; nil refuses it.
	Secrets Secrets
	OpenBMC bmc.Opener
	// DialFound connects to BMCs that were found, on port 443, for tests; nil binds to
	// the segment's interface.
	DialFound func(ctx context.Context, network, address string) (net.Conn, error)
	// Sessions are those that the opener keeps; nil if it keeps none. A new one makes
	// the agent look whether the BMC is still that of the same server.
	Sessions *store.Sessions
	Puller   files.Puller
	// UserData fetches sealed user data from the hub; nil has none.
	UserData files.UserData
	// Bundles fetches boot environments from the hub; nil has none.
	Bundles files.Bundles
	// ISOSource gives uploaded files of the hub; nil has none.
	ISOSource files.ISOSource
	ISOs      files.ISOLimits
	// Mirror is the proxy to package repositories; nil has none.
	Mirror *mirror.Mirror
	// Files is a folder of the site whose files every boot environment may serve; empty is
	// none.
	Files    string
	Segments []boot.LocalSegment
	// Loaders are the folders with boot loaders, by architecture in Go's words; none boots
	// UKIs only.
	Loaders map[string][]string
	// TPMAuthorities are those that vouch for the TPMs of servers; with none, nobody does.
	TPMAuthorities enrol.Authorities
	// Certificates are those of HTTPS listeners; needed where a segment has one.
	Certificates netboot.Certificates
	// Socket is that of the agent's own API; an empty path is none.
	Socket local.Socket

	// Spans takes boots that have ended, for OpenTelemetry; nil sends none.
	Spans trace.Spans

	// Upgrades are how the agent runs another release of itself.
	Upgrades Upgrades

	// News is told what the hub wants agents to trust, as often as it says so, and an
	// empty text when a message came by a key that is not known. It must not wait; nil is
	// told nothing.
	News func(trust string)

	Clock      state.Clock
	Random     io.Reader // for ids and tokens
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	Crash      state.Crasher // nil in production
	// ReportEvery is the longest time between two reports of a shard.
	ReportEvery time.Duration
	// TrialWindow is how long changed segments are tried without the hub; 0 is
	// decide.TrialWindow.
	TrialWindow time.Duration
}

// interfaces are those of the segments.
func (c *Config) interfaces() map[string]string {
	all := map[string]string{}
	for _, s := range c.Segments {
		all[s.Name] = s.Interface
	}
	return all
}

// Secrets opens the credentials that the hub seals for this agent. No error has one.
type Secrets interface {
	// Public is the key that the hub seals for.
	Public() []byte
	// Open opens what was sealed for a BMC.
	Open(bmc string, s *message.SealedCredentials) (message.BMCCredentials, error)
	// Reseal opens it and encrypts it as it is kept.
	Reseal(bmc string, s *message.SealedCredentials) (*store.Credentials, error)
	// OpenIgnition opens user data that was sealed for a server and the UID of its claim.
	OpenIgnition(server, claim string, ref resource.IgnitionRef, sealed []byte) ([]byte, error)
	// OpenEnv opens a boot environment's bundle that was sealed for a server and the UID of
	// its owner.
	OpenEnv(server, claim, bundle string, sealed []byte) ([]byte, error)
	// Reveal opens what was kept.
	Reveal(c store.Credentials) (message.BMCCredentials, error)
}

func (c *Config) check() error {
	bad := func(format string, args ...any) error {
		return protocol.Errorf(protocol.CodeInvalid, "configure the agent", format, args...)
	}
	switch {
	case c.Agent == "" || c.Rack == "":
		return bad("agent and rack are empty; join the hub first")
	case c.DB == nil || c.Blobs == nil || c.Signer == nil || c.OpenBMC == nil || c.Credentials == nil || c.Puller == nil:
		return bad("a store, a signer, a BMC opener, credentials and a puller are needed")
	case len(c.HubKeys) == 0:
		return bad("no hub key: every document would be refused")
	case c.Clock == nil || c.Random == nil || c.Logger == nil || c.Registerer == nil:
		return bad("clock, random, logger and registerer are needed")
	}
	if d := c.Destructive; d.BulkStop < 0 || d.BulkStop > 0 && d.Window <= 0 {
		return bad("the bound of bulk stops is %d servers in %s", d.BulkStop, d.Window)
	}
	seen := map[string]bool{}
	for _, s := range c.Segments {
		if seen[s.Name] {
			return bad("segment %q is named twice", s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}
