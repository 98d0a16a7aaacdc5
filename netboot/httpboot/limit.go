package httpboot

import (
	"io"
	"net"
	"net/netip"
	"sync"
)

// limited bounds the connections that are open at once. At the bound it accepts
// none until one closes; the kernel queues the rest, and a boot waits its turn. A
// connection beyond those that one client may have is closed at once, so that no
// client can hold all of them.
type limited struct {
	net.Listener
	slots   chan struct{}
	clients *clients
	closed  chan struct{}
	once    sync.Once
	metrics *metrics
}

func newLimited(l net.Listener, total, perClient int, m *metrics) *limited {
	return &limited{
		Listener: l, slots: make(chan struct{}, total), clients: newClients(perClient),
		closed: make(chan struct{}), metrics: m,
	}
}

// Accept waits for a slot and a connection.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	default:
		l.metrics.limitWaits.Inc()
		select {
		case l.slots <- struct{}{}:
		case <-l.closed:
			return nil, net.ErrClosed
		}
	}
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			<-l.slots
			return nil, err
		}
		client := addrOf(c.RemoteAddr().String())
		if !l.clients.enter(client) {
			l.metrics.refused.WithLabelValues(refusedConnection).Inc()
			_ = c.Close() // nothing was said on it
			continue
		}
		l.metrics.connections.Inc()
		release := sync.OnceFunc(func() {
			l.metrics.connections.Dec()
			l.clients.leave(client)
			<-l.slots
		})
		if s, ok := c.(fileSender); ok {
			return &fileConn{fileSender: s, release: release}, nil
		}
		return &plainConn{Conn: c, release: release}, nil
	}
}

// Close ends Accept, also one that waits for a slot.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// addrOf is the address of "address:port"; the zero address for anything else.
func addrOf(hostport string) netip.Addr {
	ap, err := netip.ParseAddrPort(hostport)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap()
}

// fileSender is what a *net.TCPConn has beyond a net.Conn and net/http looks for:
// ReadFrom, which is the way to sendfile, and CloseWrite, so that an answer to a
// request that was not read to its end is not lost to a reset.
type fileSender interface {
	net.Conn
	io.ReaderFrom
	CloseWrite() error
}

type fileConn struct {
	fileSender
	release func()
}

// Close closes the connection and gives its slot back.
func (c *fileConn) Close() error {
	defer c.release()
	return c.fileSender.Close()
}

type plainConn struct {
	net.Conn
	release func()
}

// Close closes the connection and gives its slot back.
func (c *plainConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}
