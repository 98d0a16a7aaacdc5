package jetstream_test

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"rackboot/protocol"
	"rackboot/state/jetstream"
)

// slowNetwork connects to a server in the process and hands over a piece at a time, so long
// after the one before.
type slowNetwork struct {
	*server.Server
	every time.Duration
}

type slowConn struct {
	net.Conn
	every time.Duration
}

func (s slowNetwork) InProcessConn() (net.Conn, error) {
	c, err := s.Server.InProcessConn()
	return slowConn{Conn: c, every: s.every}, err
}

func (c slowConn) Read(p []byte) (int, error) {
	time.Sleep(c.every)
	return c.Conn.Read(p[:min(len(p), 4<<10)])
}

// A list of many keys over a slow network takes much longer than one call may, and is whole. One
// of which nothing comes ends in the time of a call, and does not speak of writes.
func TestListIsBoundedByIdleTime(t *testing.T) {
	t.Parallel()
	const (
		keys = 400
		call = time.Second
	)
	s, nc, err := startServer(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		nc.Close()
		s.Shutdown()
		s.WaitForShutdown()
	})
	open := func(nc *nats.Conn, timeout time.Duration) *jetstream.KV {
		kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: nc, Name: "KV", Timeout: timeout})
		if err != nil {
			t.Fatal(err)
		}
		return kv
	}
	fast := open(nc, patience)
	for i := range keys {
		if _, err := fast.Create(t.Context(), fmt.Sprintf("k.%03d", i), make([]byte, 1<<10)); err != nil {
			t.Fatal(err)
		}
	}
	slow, err := nats.Connect("", nats.InProcessServer(slowNetwork{Server: s, every: 20 * time.Millisecond}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(slow.Close)
	kv := open(slow, call)
	begun := time.Now()
	entries, _, err := kv.List(t.Context(), "")
	if err != nil || len(entries) != keys {
		t.Fatalf("%d of %d keys after %s: %v", len(entries), keys, time.Since(begun), err)
	}
	if took := time.Since(begun); took < 2*call {
		t.Errorf("the list took %s, no longer than the calls of it", took)
	}
	s.Shutdown()
	_, _, err = kv.List(t.Context(), "")
	if c := protocol.CodeOf(err); c != protocol.CodeTimeout && c != protocol.CodeUnavailable {
		t.Errorf("with no server: %v", err)
	}
}
