package site

import (
	"io"
	"net"
	"sync"
	"testing"
)

// gate stands between an agent and its broker: it leads to one backend, another, or
// none, and what goes through is cut when that changes.
type gate struct {
	listener net.Listener

	mu      sync.Mutex
	backend string // empty: nowhere
	conns   map[net.Conn]bool
}

func newGate(t testing.TB, backend string) *gate {
	t.Helper()
	l, err := net.Listen("tcp", freePorts(t, 1)[0])
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{listener: l, backend: backend, conns: map[net.Conn]bool{}}
	go g.accept()
	t.Cleanup(func() {
		_ = l.Close()
		g.lead("")
	})
	return g
}

func (g *gate) url() string { return "mqtts://" + g.listener.Addr().String() }

// lead cuts what is open and leads to another backend.
func (g *gate) lead(backend string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.backend = backend
	for c := range g.conns {
		_ = c.Close()
	}
	clear(g.conns)
}

func (g *gate) accept() {
	for {
		near, err := g.listener.Accept()
		if err != nil {
			return
		}
		go g.serve(near)
	}
}

func (g *gate) serve(near net.Conn) {
	defer func() { _ = near.Close() }()
	g.mu.Lock()
	backend := g.backend
	g.mu.Unlock()
	if backend == "" {
		return
	}
	far, err := net.Dial("tcp", backend)
	if err != nil {
		return
	}
	defer func() { _ = far.Close() }()
	g.mu.Lock()
	still := g.backend == backend
	if still {
		g.conns[near], g.conns[far] = true, true
	}
	g.mu.Unlock()
	if !still {
		return
	}
	go func() {
		_, _ = io.Copy(far, near)
		_ = far.Close()
	}()
	_, _ = io.Copy(near, far)
}
