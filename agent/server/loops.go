package server

import (
	"context"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// Loops are the loops of the rack's servers. A server has one from the first time that it is
// woken. All methods are safe for concurrent use, and none waits.
type Loops struct {
	mu      sync.Mutex
	servers map[string]*loop
	room    *Room
	group   *errgroup.Group // nil before Begin
	ctx     context.Context
}

// NewLoops makes one without any loop.
func NewLoops() *Loops { return &Loops{servers: map[string]*loop{}} }

// Begin lets loops of the room be started, in the group. They end with ctx.
func (l *Loops) Begin(ctx context.Context, group *errgroup.Group, room *Room) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.group, l.ctx, l.room = group, ctx, room
}

// Wake pokes the loop of a server, and starts it if the server has none.
func (l *Loops) Wake(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.group == nil || l.ctx.Err() != nil {
		return
	}
	s, ok := l.servers[name]
	if !ok {
		s = l.room.loop(name)
		l.servers[name] = s
		l.group.Go(func() error {
			s.run(l.ctx)
			return nil
		})
	}
	s.signals.poke()
}

// of returns the loop of a server, if it has one.
func (l *Loops) of(name string) (*loop, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.servers[name]
	return s, ok
}

// Has implements boot.Servers.
func (l *Loops) Has(name string) bool {
	_, ok := l.of(name)
	return ok
}

// Saw implements boot.Servers.
func (l *Loops) Saw(name string, e decide.Event) {
	if s, ok := l.of(name); ok {
		s.saw(e)
	}
}

// Fold implements boot.Servers.
func (l *Loops) Fold(name string, e decide.Event) error {
	s, ok := l.of(name)
	if !ok {
		return noLoop("record evidence", name)
	}
	return s.fold(e)
}

// KeepImage implements boot.Servers.
func (l *Loops) KeepImage(name, owner string, r protocol.ProbeReport, at time.Time) error {
	s, ok := l.of(name)
	if !ok {
		return noLoop("keep report", name)
	}
	return s.images.keep(r, owner, at)
}

func noLoop(op, name string) error {
	return protocol.Errorf(protocol.CodeUnavailable, op, "%s has no loop yet", name)
}

// Look pokes the loop of a server, if it has one.
func (l *Loops) Look(name string) {
	if s, ok := l.of(name); ok {
		s.signals.poke()
	}
}

// WakeAll pokes the loops of servers, and starts those that are new.
func (l *Loops) WakeAll(servers []string) {
	for _, name := range servers {
		l.Wake(name)
	}
}

// LoggedIn is told of each new session at a BMC, by its host[:port].
func (l *Loops) LoggedIn(host string) {
	for _, s := range l.all() {
		s.board.loggedIn(host)
	}
}

// LookAtAll pokes all loops.
func (l *Loops) LookAtAll() {
	for _, s := range l.all() {
		s.signals.poke()
	}
}

func (l *Loops) all() map[string]*loop {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.servers)
}
