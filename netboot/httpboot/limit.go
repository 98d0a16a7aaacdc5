package httpboot

import (
	"net"
	"sync"
)

// limited bounds the connections that are open at once. At the bound it accepts
// none until one closes; the kernel queues the rest, and a boot waits its turn.
type limited struct {
	net.Listener
	slots   chan struct{}
	closed  chan struct{}
	once    sync.Once
	metrics *metrics
}

func newLimited(l net.Listener, n int, m *metrics) *limited {
	return &limited{Listener: l, slots: make(chan struct{}, n), closed: make(chan struct{}), metrics: m}
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
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	l.metrics.connections.Inc()
	release := sync.OnceFunc(func() {
		l.metrics.connections.Dec()
		<-l.slots
	})
	if tcp, ok := c.(*net.TCPConn); ok {
		return &tcpConn{TCPConn: tcp, release: release}, nil
	}
	return &plainConn{Conn: c, release: release}, nil
}

// Close ends Accept, also one that waits for a slot.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// tcpConn keeps TCPConn's ReadFrom, which is the way to sendfile.
type tcpConn struct {
	*net.TCPConn
	release func()
}

// Close closes the connection and gives its slot back.
func (c *tcpConn) Close() error {
	defer c.release()
	return c.TCPConn.Close()
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
