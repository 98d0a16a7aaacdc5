package httpboot

import (
	"net"
	"sync"
)

// passed is the listener of net/http: of connections on which something was asked that is
// not for the front.
type passed struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPassed() *passed {
	return &passed{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// pass hands a connection over, or closes it if nobody takes any.
func (p *passed) pass(c net.Conn) {
	select {
	case p.conns <- c:
	case <-p.closed:
		_ = c.Close() // the server stops
	}
}

// Accept waits for a connection.
func (p *passed) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (p *passed) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr is no address: connections come from several listeners.
func (*passed) Addr() net.Addr { return &net.TCPAddr{} }

// unread is what was read of a connection and comes first when it is read on.
type unread struct {
	bytes []byte
}

// putBack has bytes read again. Nobody reads meanwhile.
func (u *unread) putBack(b []byte) { u.bytes = append(b, u.bytes...) }

func (u *unread) take(p []byte) int {
	n := copy(p, u.bytes)
	if u.bytes = u.bytes[n:]; len(u.bytes) == 0 {
		u.bytes = nil
	}
	return n
}
