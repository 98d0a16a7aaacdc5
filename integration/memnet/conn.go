package memnet

import (
	"net"
	"time"
)

// Addr is the name of a listener or of a peer.
type Addr string

// Network is "mem".
func (Addr) Network() string { return "mem" }

// String is the name.
func (a Addr) String() string { return string(a) }

type conn struct {
	in, out       *half
	local, remote Addr
	onClose       func()
}

// Pipe returns the two ends of a connection.
func Pipe(a, b Addr) (net.Conn, net.Conn) {
	x, y := pipe(a, b)
	return x, y
}

func pipe(a, b Addr) (*conn, *conn) {
	ab, ba := newHalf(), newHalf()
	return &conn{in: ba, out: ab, local: a, remote: b}, &conn{in: ab, out: ba, local: b, remote: a}
}

func (c *conn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c *conn) Write(p []byte) (int, error) { return c.out.write(p) }
func (c *conn) LocalAddr() net.Addr         { return c.local }
func (c *conn) RemoteAddr() net.Addr        { return c.remote }

func (c *conn) Close() error {
	c.in.setDeadline(&c.in.reads, time.Time{})
	c.out.setDeadline(&c.out.writes, time.Time{})
	c.in.set(func() { c.in.gone = true })
	c.out.set(func() { c.out.eof = true })
	if c.onClose != nil {
		c.onClose()
	}
	return nil
}

func (c *conn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(&c.in.reads, t)
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.setDeadline(&c.out.writes, t)
	return nil
}
