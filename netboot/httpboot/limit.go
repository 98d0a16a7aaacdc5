package httpboot

import (
	"io"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// minPlaces keeps one file that is not in memory from holding up all others.
const minPlaces = 2

// limited bounds the connections that are open at once. At the bound it accepts
// none until one closes; the kernel queues the rest, and a boot waits its turn. A
// connection beyond those that one client may have is closed at once, so that no
// client can hold all of them.
type limited struct {
	net.Listener
	slots   chan struct{}
	clients *clients
	places  chan struct{} // for calls that send; see fileConn.ReadFrom
	closed  chan struct{}
	once    sync.Once
	metrics *metrics
}

func newLimited(l net.Listener, total, perClient int, m *metrics) *limited {
	return &limited{
		Listener: l, slots: make(chan struct{}, total), clients: newClients(perClient),
		places: make(chan struct{}, max(minPlaces, runtime.GOMAXPROCS(0))), closed: make(chan struct{}), metrics: m,
	}
}

// Accept waits for a slot and a connection.
func (l *limited) Accept() (net.Conn, error) { return l.accept() }

func (l *limited) accept() (accepted, error) {
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
			l.clients.leave(client)
			l.metrics.connections.Dec() // the client's place is free by then
			<-l.slots
		})
		if s, ok := c.(fileSender); ok {
			return newFileConn(s, l.places, release), nil
		}
		return &plainConn{Conn: c, release: release}, nil
	}
}

// Close ends Accept, also one that waits for a slot.
func (l *limited) Close() (err error) {
	l.once.Do(func() {
		close(l.closed)
		err = l.Listener.Close()
	})
	return err
}

// pause waits, and is false if the listener is closed meanwhile.
func (l *limited) pause(span time.Duration) bool {
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.closed:
		return false
	}
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

// accepted is a connection of a limited listener.
type accepted interface {
	net.Conn
	putBack(b []byte)
	// cut ends the connection at once, whatever is being sent. It is safe for concurrent
	// use.
	cut()
}

type fileConn struct {
	fileSender
	unread
	out     syscall.RawConn // of a *net.TCPConn, else nil
	sending sending
	places  chan struct{}
	release func()
}

func newFileConn(s fileSender, places chan struct{}, release func()) *fileConn {
	c := &fileConn{fileSender: s, places: places, release: release}
	if tcp, ok := s.(*net.TCPConn); ok {
		c.out, _ = tcp.SyscallConn() // of an open connection there is one
		c.sending.bind(c.places)
	}
	return c
}

// Read reads what was put back first.
func (c *fileConn) Read(p []byte) (int, error) {
	if len(c.bytes) > 0 {
		return c.take(p), nil
	}
	return c.fileSender.Read(p)
}

// Close closes the connection and gives its slot back.
func (c *fileConn) Close() error {
	defer c.release()
	return c.fileSender.Close()
}

func (c *fileConn) cut() { _ = c.Close() }

type plainConn struct {
	net.Conn
	unread
	release func()
}

// Read reads what was put back first.
func (c *plainConn) Read(p []byte) (int, error) {
	if len(c.bytes) > 0 {
		return c.take(p), nil
	}
	return c.Conn.Read(p)
}

// Close closes the connection and gives its slot back.
func (c *plainConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

func (c *plainConn) cut() { _ = c.Close() }
