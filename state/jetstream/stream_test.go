package jetstream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/jetstream"
	"rackboot/state/statetest"
)

func TestOpenRefuses(t *testing.T) {
	nc := testServer(t, t.TempDir())
	js, err := natsjs.New(nc, natsjs.WithDefaultTimeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	for name, meta := range map[string]map[string]string{"FOREIGN": nil, "NEWER": {"rackboot_schema": "3"}, "OLDER": {"rackboot_schema": "1"}, "BROKEN": {"rackboot_schema": "x"}} {
		cfg := natsjs.StreamConfig{Name: name, Subjects: []string{"x" + name}, Metadata: meta}
		if _, err := js.CreateStream(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		cfg  jetstream.Config
		code protocol.Code
	}{
		{"no connection", jetstream.Config{Name: "KV"}, protocol.CodeInvalid},
		{"no name", jetstream.Config{Conn: nc}, protocol.CodeInvalid},
		{"name with a dot", jetstream.Config{Conn: nc, Name: "a.b"}, protocol.CodeInvalid},
		{"name with a wildcard", jetstream.Config{Conn: nc, Name: "a*"}, protocol.CodeInvalid},
		{"replicas", jetstream.Config{Conn: nc, Name: "KV", Replicas: 6}, protocol.CodeInvalid},
		{"history", jetstream.Config{Conn: nc, Name: "KV", History: 1}, protocol.CodeInvalid},
		{"replicas without a cluster", jetstream.Config{Conn: nc, Name: "KV", Replicas: 3}, protocol.CodeUnavailable},
		{"somebody else's stream", jetstream.Config{Conn: nc, Name: "FOREIGN"}, protocol.CodeConflict},
		{"newer schema", jetstream.Config{Conn: nc, Name: "NEWER"}, protocol.CodeUnsupported},
		{"older schema", jetstream.Config{Conn: nc, Name: "OLDER"}, protocol.CodeUnsupported},
		{"broken schema", jetstream.Config{Conn: nc, Name: "BROKEN"}, protocol.CodeInternal},
	} {
		c.cfg.Timeout = patience
		t.Run(c.name, func(t *testing.T) {
			if _, err := jetstream.OpenKV(t.Context(), c.cfg); protocol.CodeOf(err) != c.code {
				t.Errorf("OpenKV: code %s, want %s: %v", protocol.CodeOf(err), c.code, err)
			}
			if _, err := jetstream.OpenLog(t.Context(), c.cfg); protocol.CodeOf(err) != c.code && c.name != "history" {
				t.Errorf("OpenLog: code %s, want %s: %v", protocol.CodeOf(err), c.code, err)
			}
		})
	}
}

// A second hub process opens what the first made, and its changes show.
func TestOpenAgain(t *testing.T) {
	nc := testServer(t, t.TempDir())
	var kvs []*jetstream.KV
	for range 2 {
		kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: nc, Name: "KV", Timeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		kvs = append(kvs, kv)
	}
	if _, err := kvs[0].Create(t.Context(), "a", []byte("1")); err != nil {
		t.Fatal(err)
	}
	if e, err := kvs[1].Get(t.Context(), "a"); err != nil || string(e.Value) != "1" {
		t.Errorf("the second sees %+v, %v", e, err)
	}
}

// A reader leaves no consumer behind, of which a stream has 1,000 by default.
func TestReadersLeaveNoConsumer(t *testing.T) {
	nc := testServer(t, t.TempDir())
	kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: nc, Name: "KV", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	js, err := natsjs.New(nc, natsjs.WithDefaultTimeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	consumers := func() int {
		s, err := js.Stream(t.Context(), "KV")
		if err != nil {
			t.Fatal(err)
		}
		return s.CachedInfo().State.Consumers
	}
	for range 2 { // the first list is of an empty store
		if _, _, err := kv.List(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		_, _ = kv.Create(t.Context(), "a", nil)
	}
	if n := consumers(); n != 0 {
		t.Errorf("%d consumers after List", n)
	}
	ctx, stop := context.WithCancel(t.Context())
	ch, err := kv.Watch(ctx, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := consumers(); n != 1 {
		t.Errorf("%d consumers in a Watch", n)
	}
	stop()
	for range ch { // until it is closed
	}
	if n := consumers(); n != 0 {
		t.Errorf("%d consumers after Watch", n)
	}
}

func TestClosedConnection(t *testing.T) {
	nc := testServer(t, t.TempDir())
	kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: nc, Name: "KV", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	ch, err := kv.Watch(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
	for name, call := range map[string]func() error{
		"Get":    func() error { _, err := kv.Get(t.Context(), "a"); return err },
		"Create": func() error { _, err := kv.Create(t.Context(), "a", nil); return err },
		"List":   func() error { _, _, err := kv.List(t.Context(), ""); return err },
		"Watch":  func() error { _, err := kv.Watch(t.Context(), "", 0); return err },
	} {
		if err := call(); !errors.Is(err, state.ErrClosed) || protocol.CodeOf(err) != protocol.CodeUnavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
	start := time.Now()
	for range ch {
	}
	t.Logf("the watch ended after %v", time.Since(start))
}

// A server that does not answer is a timeout with an unknown outcome.
func TestServerAway(t *testing.T) {
	s, nc, err := startServer(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	there, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: nc, Name: "KV", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	s.Shutdown()
	s.WaitForShutdown()
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, writing := there.Create(short, "a", nil)
	_, opening := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: nc, Name: "KV", Timeout: 200 * time.Millisecond})
	for name, err := range map[string]error{"Create": writing, "OpenKV": opening} {
		if c := protocol.CodeOf(err); c != protocol.CodeTimeout && c != protocol.CodeUnavailable || protocol.HintOf(err) == "" && !errors.Is(err, state.ErrClosed) {
			t.Errorf("%s: code %s: %v", name, c, err)
		}
	}
}

func TestValueTooLarge(t *testing.T) {
	kv := testKV(t, t.TempDir())
	_, err := kv.Create(t.Context(), "a", make([]byte, 2<<20)) // the server's default limit is 1 MiB
	if protocol.CodeOf(err) != protocol.CodeInvalid || protocol.HintOf(err) == "" {
		t.Errorf("2 MiB: %v", err)
	}
}

// A record appended before the kill is not appended again by a retry after it.
func TestLogKilledStaysIdempotent(t *testing.T) {
	id := func(i int) string { return fmt.Sprintf("id%d", i) }
	appendAll := func(dir string, ack func(string)) {
		_, nc, err := startServer(dir)
		if err != nil {
			panic(err)
		}
		l, err := jetstream.OpenLog(context.Background(), jetstream.Config{Conn: nc, Name: "LOG", Timeout: patience})
		if err != nil {
			panic(err)
		}
		for i := 0; ; i++ {
			if _, err := l.Append(context.Background(), "a", []byte(id(i)), id(i)); err != nil {
				panic(err)
			}
			ack(id(i))
		}
	}
	dir, acked := statetest.KillAfter(t, 200, appendAll)
	l, err := jetstream.OpenLog(t.Context(), jetstream.Config{Conn: testServer(t, dir), Name: "LOG", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range append(acked, id(len(acked))) { // the last one may or may not be there
		if _, err := l.Append(t.Context(), "a", []byte(a), a); err != nil {
			t.Fatal(err)
		}
	}
	records, err := l.Read(t.Context(), "", 0, 10_000)
	if err != nil || len(records) != len(acked)+1 {
		t.Errorf("%d records after the retry, %v; want %d", len(records), err, len(acked)+1)
	}
}

func FuzzKey(f *testing.F) {
	for _, s := range []string{"a", "a.b", "", ".", "*", "a.>", "a b", strings.Repeat("a", 513), "\xff"} {
		f.Add(s)
	}
	s, nc, err := startServer(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { nc.Close(); s.Shutdown(); s.WaitForShutdown() })
	kv, err := jetstream.OpenKV(f.Context(), jetstream.Config{Conn: nc, Name: "KV", Timeout: patience})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, key string) {
		_, err := kv.Create(t.Context(), key, nil)
		if err != nil && protocol.CodeOf(err) != protocol.CodeInvalid && !errors.Is(err, state.ErrConflict) {
			t.Errorf("create: %v", err)
		}
		if err != nil {
			return
		}
		if e, err := kv.Get(t.Context(), key); err != nil || e.Key != key {
			t.Errorf("%q was created, but read as %q, %v", key, e.Key, err)
		}
	})
}
