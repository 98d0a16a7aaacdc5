package conns

import (
	"net"
	"net/netip"
	"sync"
)

// prefix6 is the bits of an IPv6 address that are one source: whoever has a link chooses
// the others freely (RFC 4291 section 2.5.1).
const prefix6 = 64

// Config bounds connections. Total and PerSource are greater than 0.
type Config struct {
	Total     int // at once
	PerSource int // of them from one IPv4 address, or one /64 of IPv6
	// Refused hears of each connection that was closed because there were too many; nil
	// is nobody. It is called by Accept.
	Refused func()
}

// Limit is l with bounds. A connection too many is closed before anything is read from
// it, so that those who are connected are never waited for. Connections count until they
// are closed. Those of no IP address share one source.
func Limit(l net.Listener, c Config) net.Listener {
	return &listener{Listener: l, cfg: c, sources: map[netip.Prefix]int{}}
}

type listener struct {
	net.Listener
	cfg Config

	mu      sync.Mutex
	total   int
	sources map[netip.Prefix]int
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := sourceOf(c.RemoteAddr())
		if l.enter(from) {
			return &conn{Conn: c, leave: sync.OnceFunc(func() { l.leave(from) })}, nil
		}
		_ = c.Close() // nothing was said on it
		if l.cfg.Refused != nil {
			l.cfg.Refused()
		}
	}
}

func (l *listener) enter(from netip.Prefix) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total >= l.cfg.Total || l.sources[from] >= l.cfg.PerSource {
		return false
	}
	l.total++
	l.sources[from]++
	return true
}

func (l *listener) leave(from netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	if l.sources[from]--; l.sources[from] == 0 {
		delete(l.sources, from)
	}
}

func sourceOf(a net.Addr) netip.Prefix {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Prefix{}
	}
	addr := ap.Addr().Unmap().WithZone("")
	bits := addr.BitLen()
	if addr.Is6() {
		bits = prefix6
	}
	p, _ := addr.Prefix(bits) // bits fit
	return p
}

// conn is a connection that is counted.
type conn struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (c *conn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
