package conns

import (
	"errors"
	"io"
	"net"
	"testing"
)

// queue is a listener of connections that come from given addresses.
type queue struct {
	net.Listener
	from  []string
	peers []net.Conn // the other ends of all
}

type addr string

func (addr) Network() string  { return "tcp" }
func (a addr) String() string { return string(a) }

type named struct {
	net.Conn
	from addr
}

func (n named) RemoteAddr() net.Addr { return n.from }

func (q *queue) Accept() (net.Conn, error) {
	if len(q.from) == 0 {
		return nil, net.ErrClosed
	}
	near, far := net.Pipe()
	q.peers = append(q.peers, far)
	from := q.from[0]
	q.from = q.from[1:]
	return named{near, addr(from)}, nil
}

func TestLimit(t *testing.T) {
	for _, row := range []struct {
		name string
		from []string
		taken,
		refused int
	}{
		{"one source", []string{"192.0.2.1:1", "192.0.2.1:2", "192.0.2.1:3", "192.0.2.1:4"}, 2, 2},
		{"another one has its own", []string{"192.0.2.1:1", "192.0.2.1:2", "192.0.2.1:3", "192.0.2.2:1"}, 3, 1},
		{"all together", []string{"192.0.2.1:1", "192.0.2.2:1", "192.0.2.3:1", "192.0.2.4:1", "192.0.2.5:1"}, 3, 2},
		{"RFC 4291: one /64", []string{"[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8::3]:1", "[2001:db8:0:1::3]:1"}, 3, 1},
		{"IPv4 in IPv6 is IPv4", []string{"192.0.2.1:1", "[::ffff:192.0.2.1]:2", "[::ffff:192.0.2.1]:3"}, 2, 1},
		{"a zone is no other source", []string{"[fe80::1%eth0]:1", "[fe80::1%eth1]:1", "[fe80::2%eth2]:1"}, 2, 1},
		{"no address", []string{"@", "@", "@"}, 2, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			refused := 0
			q := &queue{from: row.from}
			l := Limit(q, Config{Total: 3, PerSource: 2, Refused: func() { refused++ }})
			var taken []net.Conn
			for {
				c, err := l.Accept()
				if err != nil {
					break
				}
				taken = append(taken, c)
			}
			if len(taken) != row.taken || refused != row.refused {
				t.Fatalf("%d taken and %d refused, want %d and %d", len(taken), refused, row.taken, row.refused)
			}
			for _, c := range taken {
				for range 2 { // net/http closes more than once
					_ = c.Close()
				}
			}
			q.from = row.from[:1]
			c, err := l.Accept()
			if err != nil {
				t.Fatalf("after all have left: %v", err)
			}
			_ = c.Close()
			if inner := l.(*listener); inner.total != 0 || len(inner.sources) != 0 {
				t.Errorf("%d places and %d sources are kept", inner.total, len(inner.sources))
			}
		})
	}
}

// A connection that was refused is closed, and nothing was read from it.
func TestRefusedIsClosed(t *testing.T) {
	q := &queue{from: []string{"192.0.2.1:1", "192.0.2.1:2"}}
	l := Limit(q, Config{Total: 1, PerSource: 1})
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Fatal(err)
	}
	if _, err := q.peers[1].Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the refused one reads %v", err)
	}
	_ = c.Close()
}
