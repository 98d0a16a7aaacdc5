package server

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/account"
	"rackboot/agent/boot"
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

func (rack) MediaWay(message.ServerIntent) (boot.Way, error) { return boot.Way{}, nil }

func (rack) Segment(string) (resource.SegmentIntent, bool) { return resource.SegmentIntent{}, false }

func (rack) Short(string) string { return "" }

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
	accounts := account.New(account.Config{Store: st, Local: noCredentials{}})
	return Config{
		Agent: "agent-1", Started: time.Now(), Store: st, Accounts: accounts, Denied: account.NewDenials(), Signer: wire.NewSigner(key),
		Changes: account.NewChanges(account.ChangesConfig{Accounts: accounts, Store: st, Clock: time.Now}),
		Boot:    others, Files: others, Hub: others, Index: others, Reports: told, Streams: noStreams{},
		Traces: trace.New(trace.Config{Agent: "agent-1", Store: st, Servers: told, Clock: time.Now, Logger: log, Registerer: reg}),
		NewID:  rand.Text, Clock: time.Now, Logger: log, Registerer: reg,
	}
}
