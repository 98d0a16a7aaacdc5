package jetstream_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"rackboot/protocol"
	"rackboot/state"
	"rackboot/state/jetstream"
)

// line is a connection to a server on which one direction can be lost.
type line struct {
	server     *server.Server
	deaf, mute atomic.Bool            // what the server says is lost, what is said to it
	swallowed  atomic.Int64           // what was lost, in bytes
	loses      atomic.Pointer[string] // what the server is asked next that has this in it is lost, once
}

// InProcessConn implements nats.InProcessConnProvider.
func (l *line) InProcessConn() (net.Conn, error) {
	c, err := l.server.InProcessConn()
	return end{c, l}, err
}

type end struct {
	net.Conn

	line *line
}

func (e end) Read(b []byte) (int, error) {
	for {
		n, err := e.Conn.Read(b)
		if err != nil || !e.line.deaf.Load() {
			return n, err
		}
		e.line.swallowed.Add(int64(n))
	}
}

func (e end) Write(b []byte) (int, error) {
	what := e.line.loses.Load()
	lost := what != nil && bytes.Contains(b, []byte(*what)) && e.line.loses.CompareAndSwap(what, nil)
	if lost || e.line.mute.Load() {
		e.line.swallowed.Add(int64(len(b)))
		return len(b), nil
	}
	return e.Conn.Write(b)
}

// What was written and not answered, or never came, is written once, and its caller is told what became of it, also
// where somebody else has written the key meanwhile.
func TestUnanswered(t *testing.T) {
	type write func(ctx context.Context, kv *jetstream.KV, revision uint64) (uint64, error)
	update := func(ctx context.Context, kv *jetstream.KV, revision uint64) (uint64, error) {
		return kv.Update(ctx, "a", []byte("ours"), revision)
	}
	erase := func(ctx context.Context, kv *jetstream.KV, revision uint64) (uint64, error) {
		return revision + 1, kv.Delete(ctx, "a", revision)
	}
	commit := func(ctx context.Context, kv *jetstream.KV, revision uint64) (uint64, error) {
		revs, err := kv.Commit(ctx, []state.Op{
			{Kind: state.OpCheck, Key: "checked"}, {Kind: state.OpUpdate, Key: "a", Value: []byte("ours"), Revision: revision}, {Kind: state.OpCreate, Key: "b"},
		})
		if err != nil {
			return 0, err
		}
		return revs[1], nil
	}
	for name, row := range map[string]struct {
		write    write
		arrives  bool // the question; its answer never does
		between  bool // somebody else writes the key then
		conflict bool
	}{
		"an update's answer":                        {write: update, arrives: true},
		"an update's answer, and it is overwritten": {write: update, arrives: true, between: true},
		"an update":                                {write: update},
		"an update, and somebody is first":         {write: update, between: true, conflict: true},
		"a deletion's answer":                      {write: erase, arrives: true},
		"a commit's answer":                        {write: commit, arrives: true},
		"a commit's answer, and it is overwritten": {write: commit, arrives: true, between: true},
		"a commit":                                 {write: commit},
		"a commit, and somebody is first":          {write: commit, between: true, conflict: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &line{}
			kv, theirs := l.open(t)
			first, err := kv.Create(t.Context(), "a", []byte("before"))
			if err != nil {
				t.Fatal(err)
			}
			l.deaf.Store(row.arrives)
			l.mute.Store(!row.arrives)
			type outcome struct {
				revision uint64
				err      error
			}
			ended := make(chan outcome, 1)
			go func() {
				rev, err := row.write(t.Context(), kv, first)
				ended <- outcome{rev, err}
			}()
			arrived := func() bool {
				e, err := theirs.Get(t.Context(), "a")
				return errors.Is(err, state.ErrNotFound) || e.Revision > first
			}
			for deadline := time.Now().Add(patience); l.swallowed.Load() == 0 || row.arrives && !arrived(); time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("nothing was lost")
				}
			}
			if row.between {
				now, err := theirs.Get(t.Context(), "a")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := theirs.Update(t.Context(), "a", []byte("theirs"), now.Revision); err != nil {
					t.Fatal(err)
				}
			}
			l.deaf.Store(false)
			l.mute.Store(false)
			got := <-ended
			if row.conflict {
				if !errors.Is(got.err, state.ErrConflict) {
					t.Errorf("somebody else was first: %d, %v", got.revision, got.err)
				}
				return
			}
			if got.err != nil || got.revision <= first {
				t.Fatalf("revision %d, %v", got.revision, got.err)
			}
			if row.between {
				return
			}
			e, err := theirs.Get(t.Context(), "a")
			switch {
			case errors.Is(err, state.ErrNotFound): // deleted
			case err != nil || string(e.Value) != "ours" || e.Revision != got.revision:
				t.Errorf("%q at %d, said to be at %d; %v", e.Value, e.Revision, got.revision, err)
			}
		})
	}
}

// Who watches, and whoever removes keys, asks again too.
func TestUnansweredQuestions(t *testing.T) {
	for name, row := range map[string]struct {
		ask   func(ctx context.Context, kv *jetstream.KV) error
		loses []string // of it each once
	}{
		"a watch": {func(ctx context.Context, kv *jetstream.KV) error {
			_, err := kv.Watch(ctx, "", 1)
			return err
		}, []string{"STREAM.INFO", "MSG.GET", "CONSUMER.CREATE"}},
		"what is forgotten": {func(ctx context.Context, kv *jetstream.KV) error {
			_, err := kv.Forget(ctx, time.Now().Add(time.Hour))
			return err
		}, []string{"STREAM.INFO", "MSG.GET", "CONSUMER.CREATE", "CONSUMER.DELETE", "STREAM.PURGE"}},
	} {
		for _, what := range row.loses {
			t.Run(name+", "+what, func(t *testing.T) {
				t.Parallel()
				l := &line{}
				kv, _ := l.open(t)
				revision, err := kv.Create(t.Context(), "a", nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := kv.Delete(t.Context(), "a", revision); err != nil {
					t.Fatal(err)
				}
				l.loses.Store(&what)
				if err := row.ask(t.Context(), kv); err != nil {
					t.Error(err)
				}
				if l.loses.Load() != nil {
					t.Error("it was not asked")
				}
			})
		}
	}
}

// open opens a store by the line, and by another one.
func (l *line) open(t *testing.T) (ours, theirs *jetstream.KV) {
	t.Helper()
	var err error
	var other *nats.Conn
	if l.server, other, err = startServer(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect("", nats.InProcessServer(l), nats.Timeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		other.Close()
		l.server.Shutdown()
		l.server.WaitForShutdown()
	})
	return openKV(t, conn), openKV(t, other)
}

func openKV(t *testing.T, conn *nats.Conn) *jetstream.KV {
	t.Helper()
	kv, err := jetstream.OpenKV(t.Context(), jetstream.Config{Conn: conn, Name: "KV", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	return kv
}

// A stream is opened while nobody leads what makes streams: pings are answered, and nothing else. The caller is told,
// and the connection sent to another server, since this one is asked in vain.
func TestOpenUnanswered(t *testing.T) {
	t.Parallel()
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, NoLog: true, NoSystemAccount: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.Shutdown()
	conn, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Subscribe("$JS.API.>", func(*nats.Msg) {}); err != nil { // somebody is there, and silent
		t.Fatal(err)
	}
	var moves atomic.Int64
	cfg := jetstream.Config{Conn: conn, Name: "x", Timeout: 12 * time.Second, Elsewhere: func() { moves.Add(1) }}
	if _, err := jetstream.OpenKV(t.Context(), cfg); err == nil {
		t.Fatal("a stream was opened that nobody has")
	}
	if moves.Load() == 0 {
		t.Error("the connection stays")
	}
}

// A watch loses its consumer with the server that had it, and what it asks next is not answered. It asks again, as
// every call does, and sees what was written: who waits for one answer sees nothing for as long.
func TestWatchUnanswered(t *testing.T) {
	t.Parallel()
	l := &line{}
	kv, theirs := l.open(t)
	first, err := kv.Create(t.Context(), "a", []byte("1"))
	if err != nil {
		t.Fatal(err)
	}
	changes, err := kv.Watch(t.Context(), "", first)
	if err != nil {
		t.Fatal(err)
	}
	l.loses.Store(new("CONSUMER.CREATE"))
	l.forgetConsumers(t)
	if _, err := theirs.Update(t.Context(), "a", []byte("2"), first); err != nil {
		t.Fatal(err)
	}
	select {
	case change := <-changes:
		if len(change) != 1 || string(change[0].Value) != "2" {
			t.Errorf("it sees %v", change)
		}
	case <-time.After(8 * time.Second): // half of what a watch may be without an answer
		t.Error("it sees nothing")
	}
	if l.loses.Load() != nil {
		t.Error("it was not asked")
	}
}

// forgetConsumers has the server forget who reads.
func (l *line) forgetConsumers(t *testing.T) {
	t.Helper()
	conn, err := nats.Connect("", nats.InProcessServer(l.server))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := natsjs.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), "KV")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for name := range s.ConsumerNames(t.Context()).Name() {
		n++
		if err := s.DeleteConsumer(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if n == 0 {
		t.Fatal("nobody reads")
	}
}

// A restore is asked for while nobody leads the servers: it is asked for again, and what then answers is heard.
func TestRestoreUnanswered(t *testing.T) {
	t.Parallel()
	var whole bytes.Buffer
	if _, err := testKV(t, t.TempDir()).Copy(t.Context(), &whole); err != nil {
		t.Fatal(err)
	}
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, NoLog: true, NoSystemAccount: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.Shutdown()
	conn, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	elected := time.AfterFunc(300*time.Millisecond, func() {
		_, err := conn.Subscribe("$JS.API.STREAM.RESTORE.KV", func(m *nats.Msg) { _ = m.Respond([]byte(`{"error":{"code":500,"err_code":10130}}`)) })
		if err != nil {
			t.Error(err)
		}
	})
	defer elected.Stop()
	if _, err := jetstream.Restore(t.Context(), jetstream.Config{Conn: conn, Name: "KV"}, &whole); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("%v", err)
	}
}
