package agent

import (
	"context"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// loops are the loops of the rack's servers. A server has one from the first time that it is
// woken. All methods are safe for concurrent use, and none waits.
type loops struct {
	agent *Agent

	mu      sync.Mutex
	servers map[string]*server
	group   *errgroup.Group // nil before begin
	ctx     context.Context
}

func newLoops(a *Agent) *loops { return &loops{agent: a, servers: map[string]*server{}} }

// begin lets loops be started, in the group. They end with ctx.
func (l *loops) begin(ctx context.Context, group *errgroup.Group) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.group, l.ctx = group, ctx
}

// Wake pokes the loop of a server, and starts it if the server has none.
func (l *loops) Wake(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.group == nil || l.ctx.Err() != nil {
		return
	}
	s, ok := l.servers[name]
	if !ok {
		s = newServer(l.agent, name)
		l.servers[name] = s
		l.group.Go(func() error {
			s.run(l.ctx)
			return nil
		})
		l.group.Go(func() error {
			s.watchBoard(l.ctx)
			return nil
		})
	}
	s.poke()
}

// of returns the loop of a server, if it has one.
func (l *loops) of(name string) (*server, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.servers[name]
	return s, ok
}

// Has implements boot.Servers.
func (l *loops) Has(name string) bool {
	_, ok := l.of(name)
	return ok
}

// Saw implements boot.Servers.
func (l *loops) Saw(name string, e decide.Event) {
	if s, ok := l.of(name); ok {
		s.saw(e)
	}
}

// Fold implements boot.Servers.
func (l *loops) Fold(name string, e decide.Event) error {
	s, ok := l.of(name)
	if !ok {
		return noLoop("record evidence", name)
	}
	return s.fold(e)
}

// KeepImage implements boot.Servers.
func (l *loops) KeepImage(name string, r protocol.ProbeReport, at time.Time) error {
	s, ok := l.of(name)
	if !ok {
		return noLoop("keep report", name)
	}
	return s.images.keep(r, at)
}

func noLoop(op, name string) error {
	return protocol.Errorf(protocol.CodeUnavailable, op, "%s has no loop yet", name)
}

// Look pokes the loop of a server, if it has one.
func (l *loops) Look(name string) {
	if s, ok := l.of(name); ok {
		s.poke()
	}
}

// lookAt pokes the loops of servers, and starts those that are new. They are reported anew.
func (l *loops) lookAt(servers []string) {
	for _, name := range servers {
		l.Wake(name)
	}
	l.agent.reports.PokeAll()
}

// LookAtAll pokes all loops.
func (l *loops) LookAtAll() {
	for _, s := range l.all() {
		s.poke()
	}
}

func (l *loops) all() map[string]*server {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.servers)
}
