package brokers

import (
	"io"
	"net"
	"sync"
	"testing"
)

// proxy passes bytes of a fixed address on to the first of its backends that takes
// the connection.
type proxy struct {
	listener net.Listener
	wg       sync.WaitGroup

	mu       sync.Mutex
	backends []string
	blocked  bool
	conns    map[net.Conn]string // open ones, near and far, by backend
}

func newProxy(t *testing.T, backends ...string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", freeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, backends: backends, conns: map[net.Conn]string{}}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		_ = l.Close()
		p.block()
		p.wg.Wait()
	})
	return p
}

func (p *proxy) url() string { return "mqtts://" + p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.wg.Go(func() { p.serve(near) })
	}
}

func (p *proxy) serve(near net.Conn) {
	defer near.Close()
	far, backend := p.dial()
	if far == nil {
		return
	}
	defer far.Close()
	if !p.keep(backend, near, far) {
		return
	}
	defer p.forget(near, far)
	var wg sync.WaitGroup
	for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
		wg.Go(func() {
			_, _ = io.Copy(pair[0], pair[1]) // whatever ends it ends both
			_ = near.Close()
			_ = far.Close()
		})
	}
	wg.Wait()
}

func (p *proxy) dial() (net.Conn, string) {
	p.mu.Lock()
	backends := append([]string(nil), p.backends...)
	p.mu.Unlock()
	for _, b := range backends {
		if far, err := net.Dial("tcp", b); err == nil {
			return far, b
		}
	}
	return nil, ""
}

func (p *proxy) keep(backend string, conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		if !p.blocked {
			p.conns[c] = backend
		}
	}
	return !p.blocked
}

func (p *proxy) forget(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		delete(p.conns, c)
	}
}

// block cuts all connections and lets no other through.
func (p *proxy) block() { p.cut(true) }

// cut cuts all connections, and blocks or not.
func (p *proxy) cut(blocked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blocked = blocked
	for c := range p.conns {
		_ = c.Close()
	}
}

// backend is where the present connections lead.
func (p *proxy) backend() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.conns {
		return b
	}
	return ""
}
