package local

import (
	"net"
	"sync"
)

// room is a listener with at most so many connections at once: further ones wait in
// the kernel's queue, which is bounded too, and cost the agent nothing.
type room struct {
	net.Listener
	places chan struct{}
	closed chan struct{}
	once   sync.Once
}

func newRoom(l net.Listener, places int) *room {
	return &room{Listener: l, places: make(chan struct{}, places), closed: make(chan struct{})}
}

// Accept implements net.Listener.
func (r *room) Accept() (net.Conn, error) {
	select {
	case r.places <- struct{}{}:
	case <-r.closed:
		return nil, net.ErrClosed
	}
	c, err := r.Listener.Accept()
	if err != nil {
		<-r.places
		return nil, err
	}
	return &guest{Conn: c, leave: sync.OnceFunc(func() { <-r.places })}, nil
}

// Close implements net.Listener.
func (r *room) Close() error {
	r.once.Do(func() { close(r.closed) })
	return r.Listener.Close()
}

// guest is a connection that has a place.
type guest struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (g *guest) Close() error {
	defer g.leave()
	return g.Conn.Close()
}
