package server

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/account"
	"rackboot/agent/attemptlog"
	"rackboot/agent/boot"
	"rackboot/agent/guard"
	"rackboot/agent/reports"
	"rackboot/agent/store"
	"rackboot/agent/stream"
	"rackboot/agent/trace"
	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state/statetest"
)

var hubStart = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// noCredentials gives every BMC the empty account.
type noCredentials struct{}

func (noCredentials) Read(string) (bmc.Credentials, string, error) { return bmc.Credentials{}, "", nil }

// rack is what a room needs of others, where nothing boots and no hub speaks.
type rack struct{ verifier *wire.Verifier }

func (rack) Chain(message.ServerIntent) (protocol.BootChain, error) { return protocol.BootChain{}, nil }

func (rack) HostBase(string) (string, bool) { return "", false }

func (rack) Diverted(string) string { return "" }

func (rack) MediaWay(message.ServerIntent) (boot.Way, error) { return boot.Way{}, nil }

func (rack) Segment(string) (resource.SegmentIntent, bool) { return resource.SegmentIntent{}, false }

func (rack) Short(string) string { return "" }

func (rack) Heard(string) string { return "" }

func (rack) Follow(string, decide.Record) {}

func (rack) Dropped() {}

func (rack) State(message.ServerIntent) decide.Artefacts { return decide.Artefacts{} }

func (rack) Report(message.ServerIntent) *resource.EnvReport { return nil }

func (rack) Want(message.ServerIntent) {}

func (rack) Time() time.Time { return time.Time{} }

func (r rack) Verifier() *wire.Verifier { return r.verifier }

func (rack) Over() bool { return false }

func (rack) Dismissed() bool { return false }

func (rack) Changed() error { return nil }

// noStreams follows no BMC.
type noStreams struct{}

func (noStreams) Follow(context.Context, string, bmc.EventSource, stream.Server) {}

func (noStreams) Leave(string, stream.Server) {}

func (noStreams) Back(string) {}

// config is that of a room on a disk in memory, on the test's clock. It has no BMC.
func config(t testing.TB) Config {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(store.Config{DB: statetest.NewMemory(), NewID: rand.Text})
	if err != nil {
		t.Fatal(err)
	}
	log, reg := slog.New(slog.DiscardHandler), prometheus.NewRegistry()
	others := rack{wire.NewVerifier(public)}
	told := reports.New(reports.Config{Every: 15 * time.Second, Clock: time.Now, Registerer: reg})
	accounts := account.New(account.Config{Store: st.Accounts, Local: noCredentials{}})
	return Config{
		Agent: "agent-1", Started: time.Now(), Store: st, Guard: guard.Open(guard.Config{Agent: "agent-1", Clock: time.Now}), Accounts: accounts, Denied: account.NewDenials(), Signer: wire.NewSigner(key),
		Changes: account.NewChanges(account.ChangesConfig{Accounts: accounts, Store: st, Clock: time.Now}),
		Boot:    others, Files: others, Hub: others, Index: others, Reports: told, Streams: noStreams{},
		Traces: trace.New(trace.Config{Agent: "agent-1", Store: st.Traces, Servers: told, Clock: time.Now, Logger: log, Registerer: reg}),
		Log:    attemptlog.New(),
		NewID:  rand.Text, Clock: time.Now, Logger: log, Registerer: reg,
	}
}

// document puts one server, n1, into the rack's document.
func document(t *testing.T, st *store.Store) message.ServerIntent {
	t.Helper()
	digest := "sha256:" + strings.Repeat("a", 64)
	owner := resource.Owner{Name: "n1", UID: "claim-n1"}
	in := message.ServerIntent{
		Server: "n1", UID: "uid-n1", Segment: "boot", BootMAC: "52:54:00:00:00:01", Architecture: "amd64",
		BMC: message.BMCIntent{Name: "n1", Address: "https://192.0.2.1", CredentialsRef: "local:bmc"}, Owner: owner, Power: resource.WantOn,
		Boot: &message.BootIntent{Owner: owner, GrantedBoot: resource.GrantedBoot{Generation: 1, BootSpec: resource.BootSpec{
			BootPolicy: resource.BootPolicy{Boot: resource.BootHdd}, Image: resource.Image{Digest: digest, Artefacts: []resource.Artefact{{Digest: digest, Size: 1}}},
		}}},
	}
	d := message.RackDoc{
		Head: protocol.Head{Version: 1}, Agent: "agent-1", Shards: 1, Rack: &message.RackIntent{Name: "rack-1", PollInterval: 15 * time.Second}, Servers: []message.ServerIntent{in},
	}
	if _, _, err := st.Documents.ApplyRack(d, "1", func(message.ServerIntent) (*store.Credentials, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	return in
}
