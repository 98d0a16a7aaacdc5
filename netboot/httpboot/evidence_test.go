package httpboot

import (
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"rackboot/protocol"
)

// TestFetchedEvidence: a file counts as fetched when its last byte went out in
// answer to GET, also in parts, once per whole, and never else.
func TestFetchedEvidence(t *testing.T) {
	t.Run("HTTP", func(t *testing.T) { fetchedEvidence(t, func(*Config) {}) })
	t.Run("HTTPS", func(t *testing.T) { fetchedEvidence(t, withTLS) })
}

func fetchedEvidence(t *testing.T, scheme func(*Config)) {
	t.Helper()
	size := len(bootBytes())
	part := func(from, to int) string { return fmt.Sprintf("Range: bytes=%d-%d\r\n", from, to) }
	type req struct{ method, name, headers string }
	get := func(headers string) req { return req{"GET", bootName, headers} }
	for _, row := range []struct {
		name     string
		requests []req
		want     int
	}{
		{"HEAD", []req{{"HEAD", bootName, ""}}, 0},
		{"GET", []req{get("")}, 1},
		{"HEAD and GET", []req{{"HEAD", bootName, ""}, get("")}, 1},
		{"GET twice", []req{get(""), get("")}, 2},
		{"a small file", []req{{"GET", "small.efi", ""}}, 1},
		{"an empty file", []req{{"GET", "empty.efi", ""}}, 1},
		{"not found", []req{{"GET", "nope.efi", ""}}, 0},
		{"the first part", []req{get(part(0, 99))}, 0},
		{"the last part only", []req{get(part(100, size-1))}, 0},
		{"both parts", []req{get(part(0, 99)), get(part(100, size-1))}, 1},
		{"parts in the wrong order leave a gap", []req{get(part(100, size-1)), get(part(0, 99))}, 0},
		{"parts that overlap", []req{get(part(0, 99)), get(part(50, 199)), get(part(120, size-1))}, 1},
		{"a gap", []req{get(part(0, 99)), get(part(101, size-1))}, 0},
		{"parts, then all", []req{get(part(0, 99)), get("")}, 1},
		{"parts of two files", []req{get(part(0, 99)), {"GET", "small.efi", part(0, 0)}}, 0},
		{"several ranges at once are answered by the whole", []req{get("Range: bytes=0-99,200-\r\n")}, 1},
		{"not modified", []req{get("If-None-Match: \"e1\"\r\n")}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
			w := start(t, scheme, func(c *Config) { c.Clock = func() time.Time { return now } })
			for _, r := range row.requests {
				w.get(t, r.method, "/b/"+token+"/"+r.name, r.headers)
			}
			w.stop()
			events := w.evidence.all()
			if len(events) != row.want {
				t.Fatalf("%d events, want %d: %+v", len(events), row.want, events)
			}
			for _, e := range events {
				if e.Kind != protocol.EvidenceFetched || e.Token != token || e.File == "" || e.Remote.String() != "127.0.0.1" || !e.At.Equal(now) {
					t.Errorf("event %+v", e)
				}
			}
		})
	}
}

// TestAbortedTransfer: the client reads the header and leaves.
func TestAbortedTransfer(t *testing.T) {
	pr, pw := net.Pipe() // unbuffered: what the client does not read is not sent
	l := &oneConn{conn: pw, closed: make(chan struct{})}
	w := start(t, func(c *Config) {
		c.Listener.Close()
		c.Listener = l
	})
	if _, err := io.WriteString(pr, "GET /b/"+token+"/"+bootName+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(pr, make([]byte, 4096)); err != nil {
		t.Fatal(err)
	}
	pr.Close()
	w.stop()
	if events := w.evidence.all(); len(events) != 0 {
		t.Errorf("an aborted transfer counts: %+v", events)
	}
}

// oneConn is a listener with one connection.
type oneConn struct {
	conn   net.Conn
	closed chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

func (l *oneConn) Close() error {
	close(l.closed)
	return nil
}

func TestSpansAreBounded(t *testing.T) {
	s := newSpans()
	for i := range 3 * maxSpans {
		if s.sent(spanKey{file: fmt.Sprint(i)}, 0, 1, 2) {
			t.Fatal("half a file is whole")
		}
	}
	if len(s.ends) != maxSpans || len(s.order) != maxSpans {
		t.Errorf("%d ends, %d in order", len(s.ends), len(s.order))
	}
	last := spanKey{file: fmt.Sprint(3*maxSpans - 1)}
	if !s.sent(last, 1, 2, 2) || len(s.ends) != maxSpans-1 || len(s.order) != maxSpans-1 {
		t.Error("a whole file stays")
	}
}
