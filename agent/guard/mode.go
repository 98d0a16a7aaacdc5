package guard

import (
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/state"
)

// Config says whose guard it is.
type Config struct {
	Agent string // id
	Dir   string // of the slots, which exists; empty keeps the guard set in memory only
	Clock state.Clock
	// Logger may be nil.
	Logger *slog.Logger
	Crash  state.Crasher // nil in production
}

// ErrReverted is in the chain of the cause where the hub has said that the store is an older copy.
var ErrReverted = errors.New("the hub was told of more changes than it has: it is an older copy")

// Mode is guard mode.
type Mode struct {
	Since time.Time
	Cause string // why the store cannot be written, for people
	// Frozen says that the store cannot be opened, and the guard set is in its place.
	Frozen bool
	// Reverted says that the cause is [ErrReverted].
	Reverted bool
	// Accepted says who has accepted that the store is lost, and why; empty if nobody has.
	Accepted string
	code     protocol.Code // of the cause
}

// spell is a guard mode that is over.
type spell struct{ began, ended time.Time }

// Guard has an agent's guard set, and says whether the agent is in guard mode. It outlives the
// stores that it goes with. All methods are safe for concurrent use.
type Guard struct {
	cfg Config

	keep *keep

	mu       sync.Mutex
	mode     *Mode // nil while the store can be written
	trying   bool  // to write it
	over     int   // spells that are over
	last     spell
	folded   map[string]int // how many of them a server's record has
	overlays map[string]decide.Overlay
	changed  func()
}

// Open opens the guard of an agent. That its slots cannot be opened, or are damaged, is no error:
// see Volatile.
func Open(cfg Config) *Guard {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	g := &Guard{cfg: cfg, folded: map[string]int{}, overlays: map[string]decide.Overlay{}}
	g.keep = openKeep(&g.cfg)
	return g
}

// Notify has changed called when guard mode begins. It must not wait.
func (g *Guard) Notify(changed func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.changed = changed
}

// Mode returns the guard mode that is; false if there is none.
func (g *Guard) Mode() (Mode, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mode == nil {
		return Mode{}, false
	}
	return *g.mode, true
}

// On reports whether the agent is in guard mode.
func (g *Guard) On() bool {
	_, on := g.Mode()
	return on
}

// Frozen reports whether the guard set is in the store's place.
func (g *Guard) Frozen() bool {
	m, _ := g.Mode()
	return m.Frozen
}

// Begin begins guard mode, or goes on with it for another cause.
func (g *Guard) Begin(cause error, frozen bool) {
	g.mu.Lock()
	began := g.mode == nil
	if began {
		g.mode = &Mode{Since: g.cfg.Clock()}
	}
	changed := g.changed
	if code := protocol.CodeOf(cause); began || g.mode.Frozen != frozen || g.mode.code != code || g.mode.Reverted != errors.Is(cause, ErrReverted) { // else it says how many bytes are free now
		g.mode.Frozen, g.mode.Cause, g.mode.code, g.mode.Reverted = frozen, protocol.Advice(cause), code, errors.Is(cause, ErrReverted)
	} else {
		changed = nil
	}
	g.mu.Unlock()
	if began {
		g.cfg.Logger.Error("guard mode: the store cannot be written; what is held is guarded, and nothing else is done", "err", cause)
	}
	if changed != nil {
		changed()
	}
}

// Attempt runs write, which may write to the store although it is guard mode; that it does not
// fail shows that the store can be written, and ends the guard mode.
func (g *Guard) Attempt(write func(Mode) error) error {
	g.mu.Lock()
	if g.mode == nil || g.trying {
		g.mu.Unlock()
		return nil
	}
	g.trying = true
	was := *g.mode
	g.mu.Unlock()
	err := write(was)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.trying = false
	if err != nil {
		return err
	}
	g.over++
	g.last, g.mode = spell{was.Since, g.cfg.Clock()}, nil
	g.cfg.Logger.Warn("the store can be written again; guard mode is over", "since", was.Since)
	return nil
}

// refuses says why the store takes no write now; nil if it does.
func (g *Guard) refuses(op string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mode == nil || g.trying {
		return nil
	}
	return protocol.Errorf(protocol.CodeUnavailable, op, "guard mode since %s: %s", g.mode.Since.UTC().Format(time.RFC3339), g.mode.Cause).
		WithHint("the agent leaves it by itself when its store can be written again; rackboot-agent status says more")
}

// Overlay is what happened to a server in guard mode that its record does not have; false if
// there is nothing to fold.
func (g *Guard) Overlay(server string) (o decide.Overlay, owed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	o, owed = g.overlays[server]
	switch {
	case g.mode != nil && o.Began.IsZero():
		o.Began = g.mode.Since
	case g.mode == nil && !owed && g.folded[server] == g.over:
		return o, false
	case g.mode == nil && !owed: // it was not even read
		o.Began, o.Unread = g.last.began, g.last.ended.Sub(g.last.began)
	}
	return o, true
}

// Note takes what happened to a server, and could not be recorded.
func (g *Guard) Note(server string, o decide.Overlay) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.overlays[server] = o
}

// Folded notes that the server's record has what happened before.
func (g *Guard) Folded(server string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.folded[server] = g.over
	delete(g.overlays, server)
}

// Accept notes that somebody has accepted that the store is lost.
func (g *Guard) Accept(word string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mode != nil {
		g.mode.Accepted = word
	}
}

// Thaw notes that there is a store again in the place of a frozen one. Attempt is to show that it
// can be written.
func (g *Guard) Thaw() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mode != nil {
		g.mode.Frozen = false
	}
}

// ErrLost is in the chain of why there is no store: what there is is not the agent's.
var ErrLost = errors.New("it is not the database that this agent had")

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
