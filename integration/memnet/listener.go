package memnet

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"
)

// Listener accepts connections that Dial makes. It is safe for concurrent use.
type Listener struct {
	addr   Addr
	accept chan net.Conn
	closed chan struct{}

	mu    sync.Mutex
	shut  bool
	conns map[*conn]*conn // dialler's end to server's end
	dials int
}

// Listen makes a listener. Up to 128 connections wait to be accepted.
func Listen(name string) *Listener {
	return &Listener{
		addr:   Addr(name),
		accept: make(chan net.Conn, 128),
		closed: make(chan struct{}),
		conns:  map[*conn]*conn{},
	}
}

// Dial connects; it is refused when the listener is closed or its queue full.
func (l *Listener) Dial(ctx context.Context) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dials++
	if l.shut {
		return nil, fmt.Errorf("dial %s: %w", l.addr, syscall.ECONNREFUSED)
	}
	near, far := pipe(Addr(fmt.Sprintf("client-%d", l.dials)), l.addr)
	select {
	case l.accept <- far:
	default:
		return nil, fmt.Errorf("dial %s: %w", l.addr, syscall.ECONNREFUSED)
	}
	l.conns[near] = far
	near.onClose = func() { l.forget(near) }
	return near, nil
}

// Dials counts the calls of Dial.
func (l *Listener) Dials() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dials
}

// Accept waits for a connection.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accept:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Addr is the listener's name.
func (l *Listener) Addr() net.Addr { return l.addr }

// Close refuses new connections and cuts the present ones.
func (l *Listener) Close() error {
	l.mu.Lock()
	already := l.shut
	l.shut = true
	l.mu.Unlock()
	if !already {
		close(l.closed)
	}
	l.Cut()
	return nil
}

// Cut closes the listener's end of all present connections. Their diallers read
// the end of the stream, as from a peer that died.
func (l *Listener) Cut() {
	for _, far := range l.take() {
		_ = far.Close()
	}
}

// Freeze loses all bytes of the present connections from now on, in both
// directions, without closing them: a cable pulled out.
func (l *Listener) Freeze() {
	for near, far := range l.take() {
		near.out.set(func() { near.out.frozen = true })
		far.out.set(func() { far.out.frozen = true })
	}
}

func (l *Listener) take() map[*conn]*conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	conns := l.conns
	l.conns = map[*conn]*conn{}
	return conns
}

func (l *Listener) forget(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}
