package link

import (
	"sync"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// asides is whether another agent has a copy of this disk, as it was heard and written. It is safe for
// concurrent use.
type asides struct {
	store *store.Aside
	agent string
	place string

	mu   sync.Mutex
	now  decide.Aside
	said string // the self that the hub was told last
	// until is when an agent acts on that has just started, and may not be the only one; zero is at once.
	until time.Time
	moved bool // its disk is at another place than before
}

// A disk that is at another place than before may be a copy, of which the hub says so as soon as both
// agents have spoken: arriveAlone is how long the agent waits for that after the hub has answered, and
// arriveBlind how long without an answer. So does one whose rack has a standby, which may have taken over while this one did
// not run. Where that one needs nobody's statement for it, because both have heartbeats, the hub's answer is waited for
// however long it takes.
const (
	arriveAlone = 2 * time.Second
	arriveBlind = 30 * time.Second
	arriveNever = 100 * 365 * 24 * time.Hour
)

// arrivingRule says how long an agent that starts does only what holds want, while the hub has not answered. The first row
// that fits decides.
//
//	twin | heartbeats | moved | wait
//	yes  | yes        | *     | never
//	yes  | no         | *     | blind
//	no   | *          | yes   | blind
//	no   | *          | no    | none
func arrivingRule(twin, heartbeats, moved bool) time.Duration {
	switch {
	case twin && heartbeats:
		return arriveNever
	case twin, moved:
		return arriveBlind
	}
	return 0
}

func newAsides(cfg Config) (*asides, error) {
	a := &asides{store: cfg.Store.Aside, agent: cfg.Agent, place: cfg.Place}
	var err error
	if a.now, err = a.store.Read(cfg.Agent); err != nil {
		return a, err
	}
	if cfg.Place != "" {
		a.moved, err = a.store.Arrive(cfg.Place)
	}
	twin, _ := cfg.Store.Servers.Twin()
	if wait := arrivingRule(twin != nil && !cfg.Store.Servers.StandsBy(), cfg.Heartbeats, a.moved); wait > 0 {
		cfg.Logger.Warn("another agent may have the disk or the rack by now; nothing is done but what holds want until the hub has answered", "moved", a.moved, "for_ever", wait == arriveNever)
		a.until = cfg.Clock().Add(wait)
		a.store.Wait(true)
	}
	if protocol.CodeOf(err) == protocol.CodeUnavailable { // guard mode, in which nothing is done anyway
		cfg.Logger.Warn("where the agent's disk is could not be noted", "err", err)
		err = nil
	}
	return a, err
}

// waits reports whether that is so.
func (a *asides) waits() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.until.IsZero()
}

// met notes that the hub has answered, and returns how long to wait for its word of a copy; 0 is not.
func (a *asides) met(now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.until.IsZero() {
		return 0
	}
	if at := now.Add(arriveAlone); at.Before(a.until) {
		a.until = at
	}
	return arriveAlone
}

// arrived ends the wait if it is time, and reports whether it did.
func (a *asides) arrived(now time.Time) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.until.IsZero() || now.Before(a.until) {
		return false, nil
	}
	if a.moved {
		if err := a.store.Arrived(a.place); err != nil {
			return false, err
		}
	}
	a.store.Wait(false)
	a.until = time.Time{}
	return true, nil
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
	if a.said = ""; a.now.Standing(incarnation) == decide.AsideStands {
		a.said = a.now.Self
	}
	return a.said
}

// told reports whether the last Hello said that.
func (a *asides) told() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.said == a.now.Self
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

// say says how the agent stands with another one of the same disk.
func (a *asides) say(cfg Config, on *footing) {
	in, err := on.applied()
	if err != nil {
		return // which is said where it matters
	}
	switch a.standing(in.Incarnation) {
	case decide.AsideNone:
		cfg.Reports.Clear(resource.CondAgentCopied)
	case decide.AsideStands:
		cfg.Reports.Raise(resource.CondAgentCopied, "run "+cfg.Run+" guards holds, and does nothing else until somebody says which of the two goes on")
	case decide.AsideTaken:
		cfg.Reports.Raise(resource.CondAgentCopied, "run "+cfg.Run+" goes on when the hub has answered its new incarnation")
	case decide.AsideSuperseded:
		cfg.Reports.Clear(resource.CondAgentCopied)
		cfg.Reports.Raise(resource.CondSuperseded, "another agent with a copy of this disk goes on")
	}
}
