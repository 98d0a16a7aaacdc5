package jetstream_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"rackboot/state/jetstream"
)

// patience is how long a test waits for what must come: on a busy machine a write that is
// synced takes seconds.
const patience = time.Minute

// startServer runs an embedded NATS server without a listener, as the hub does
// by default: file store, every write synced.
func startServer(dir string) (*server.Server, *nats.Conn, error) {
	s, err := server.NewServer(&server.Options{
		ServerName:      "test",
		DontListen:      true,
		JetStream:       true,
		StoreDir:        dir,
		SyncAlways:      true,
		NoSigs:          true,
		NoLog:           true,
		NoSystemAccount: true,
	})
	if err != nil {
		return nil, nil, err
	}
	s.Start()
	if !s.ReadyForConnections(patience) {
		s.Shutdown()
		return nil, nil, nats.ErrNoServers
	}
	nc, err := nats.Connect("", nats.InProcessServer(s), nats.Timeout(patience))
	if err != nil {
		s.Shutdown()
		return nil, nil, err
	}
	return s, nc, nil
}

func testServer(t testing.TB, dir string) *nats.Conn {
	t.Helper()
	s, nc, err := startServer(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		nc.Close()
		s.Shutdown()
		s.WaitForShutdown()
	})
	return nc
}

func testKV(t testing.TB, dir string) *jetstream.KV {
	t.Helper()
	kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: testServer(t, dir), Name: "KV", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	return kv
}
