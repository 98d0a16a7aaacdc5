package agent

import (
	"context"
	"crypto/ed25519"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/local"
	"rackboot/agent/store"
	"rackboot/bmc"
	"rackboot/netboot"
	"rackboot/protocol"
	"rackboot/protocol/wire"
	"rackboot/state"
	"rackboot/state/blob"
)

// Config is everything that an agent is made of.
type Config struct {
	Agent   string // id, given by the hub at join
	Rack    string
	Version string

	DB     state.Store
	Blobs  *blob.Store
	Signer *wire.Signer
	// HubKeys sign documents and grants.
	HubKeys []ed25519.PublicKey
	// Credentials reads local BMC credentials by name.
	Credentials Credentials
	OpenBMC     bmc.Opener
	// DialFound connects to BMCs that were found, on port 443, for tests; nil binds to
	// the segment's interface.
	DialFound func(ctx context.Context, network, address string) (net.Conn, error)
	// Sessions are those that the opener keeps; nil if it keeps none. A new one makes
	// the agent look whether the BMC is still that of the same server.
	Sessions *store.Sessions
	Puller   Puller
	Segments []LocalSegment
	// Certificates are those of HTTPS listeners; needed where a segment has one.
	Certificates netboot.Certificates
	// Socket is that of the agent's own API; an empty path is none.
	Socket local.Socket

	Clock      state.Clock
	Random     io.Reader // for ids and tokens
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	Crash      state.Crasher // nil in production
	// ReportEvery is the longest time between two reports of a shard.
	ReportEvery time.Duration
}

// LocalSegment is what the agent's own file says of a segment: where to listen.
// The hub can never name an interface.
type LocalSegment struct {
	Name      string
	Interface string         // bind DHCP to this interface; empty on loopback
	DHCP      netip.AddrPort // 0.0.0.0:67, or a loopback address for tests
	HTTP      netip.AddrPort
	// TFTP and HTTPS are served where they are valid.
	TFTP, HTTPS netip.AddrPort
}

// interfaces are those of the segments.
func (c *Config) interfaces() map[string]string {
	all := map[string]string{}
	for _, s := range c.Segments {
		all[s.Name] = s.Interface
	}
	return all
}

// Credentials reads BMC credentials that live at the agent.
type Credentials interface {
	// Read returns the credentials and a stamp that changes when they do.
	Read(name string) (c bmc.Credentials, stamp string, err error)
}

// Transport publishes to the hub.
type Transport interface {
	Publish(topic string, payload []byte) error
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
	seen := map[string]bool{}
	for _, s := range c.Segments {
		if seen[s.Name] {
			return bad("segment %q is named twice", s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}
