package link

import (
	"sync"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
)

// asides is whether another agent has a copy of this disk, as it was heard and written. It is safe for
// concurrent use.
type asides struct {
	store *store.Aside
	agent string

	mu  sync.Mutex
	now decide.Aside
}

func newAsides(cfg Config) (*asides, error) {
	now, err := cfg.Store.Aside.Read(cfg.Agent)
	if err != nil {
		return nil, err
	}
	return &asides{store: cfg.Store.Aside, agent: cfg.Agent, now: now}, nil
}

// standing is how the agent of that incarnation stands.
func (a *asides) standing(incarnation string) decide.AsideStanding {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now.Standing(incarnation)
}

// self tells the hub which of the agents of one disk this is, while it stands aside.
func (a *asides) self(incarnation string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.now.Standing(incarnation) != decide.AsideStands {
		return ""
	}
	return a.now.Self
}

// over reports whether the other agent goes on.
func (a *asides) over() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now.Superseded
}

// hears does what the hub's word of copies asks, and returns what that was. What cannot be written
// counts all the same, but that the agent goes on; the word comes again. An agent that cannot read
// which of the two it is, gives nothing up.
func (a *asides) hears(m message.Copied, incarnation string, guards bool, at time.Time) (act decide.AsideAction, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	act = decide.OnCopied(m, incarnation, a.now)
	if act == decide.AsideGiveUp && guards && a.now.Self == "" {
		act = decide.AsideStand
	}
	as := a.now
	switch act {
	case decide.AsideNothing:
		return act, nil
	case decide.AsideStand:
		a.now = decide.Aside{Incarnation: incarnation}
		as, err = a.store.Stand(a.agent, incarnation)
	case decide.AsideTake:
		as, err = a.store.Take(at, a.agent, incarnation, m.Kept.Incarnation)
	case decide.AsideGiveUp:
		a.now = decide.Aside{Incarnation: incarnation, Superseded: true}
		as, err = a.store.GiveUp(a.agent, incarnation)
	}
	if err == nil {
		a.now = as
	}
	return act, err
}

// answered notes that the hub has answered an incarnation, and reports whether the agent goes on by it.
func (a *asides) answered(incarnation string) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.now.Standing(incarnation) != decide.AsideTaken {
		return false, nil
	}
	if err := a.store.GoOn(); err != nil {
		return false, err
	}
	a.now = decide.Aside{}
	return true, nil
}
