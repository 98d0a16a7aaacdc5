package store

import (
	"errors"
	"time"

	"rackboot/protocol/decide"
	"rackboot/state"
)

// Aside is whether another agent has a copy of this disk. See [decide.OnCopied].
type Aside struct {
	disk     *disk
	identity *Identity
	newID    func() string
}

// kept is what is on disk, for the agent of that name. One that has joined anew with the disk has
// another, and its own history.
type kept struct {
	Agent string `json:"agent"`
	decide.Aside
}

// asides is the mirror's part of it.
type asides struct {
	kept        kept
	incarnation string
	// now is what was heard in this run and could not be written; nil is nothing.
	now *decide.Aside
	// arriving says that the agent has just started, and may not be the only one that has the disk or the rack.
	arriving bool
}

func (a *asides) standing() decide.AsideStanding {
	as := a.kept.Standing(a.incarnation)
	if a.now != nil {
		as = a.now.Standing(a.incarnation)
	}
	if as == decide.AsideNone && a.arriving {
		return decide.AsideStands
	}
	return as
}

func (a *asides) put(w write) (err error) {
	if w.key == keyIncarnation {
		a.incarnation = string(w.value)
		return nil
	}
	a.kept = kept{}
	if w.value != nil {
		a.kept, err = decode[kept](w.key, w.value)
	}
	return err
}

func (a *asides) read(t state.Txn) (err error) {
	if a.incarnation, err = incarnation(t); err != nil && !errors.Is(err, state.ErrNotFound) {
		return err
	}
	a.kept, _, err = get[kept](t, keyAside)
	return err
}

// asideOn is how the agent stands by what is on disk, and by what it has heard in this run.
func (m *mirror) asideOn(t state.Txn) (decide.AsideStanding, error) {
	m.mu.RLock()
	on := asides{now: m.aside.now, arriving: m.aside.arriving}
	m.mu.RUnlock()
	if err := on.read(t); err != nil {
		return decide.AsideNone, err
	}
	return on.standing(), nil
}

// heard has it so in this run, whether or not it can be written; nil is what is on disk.
func (m *mirror) heard(a *decide.Aside) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.aside.now = a
}

// Read reads how the agent of that name stands. What an agent of another name was told on this disk is
// forgotten.
func (a *Aside) Read(agent string) (out decide.Aside, err error) {
	err = a.disk.update(func(t state.Txn) error {
		k, there, err := get[kept](t, keyAside)
		if err != nil || !there {
			return err
		}
		if k.Agent != agent {
			return t.Delete(keyAside)
		}
		out = k.Aside
		return nil
	})
	return out, err
}

// Arrive notes where the disk is, and reports whether it was at another place before: it may be a copy.
func (a *Aside) Arrive(place string) (moved bool, err error) {
	err = a.disk.update(func(t state.Txn) error {
		was, there, err := get[string](t, keyPlace)
		if moved = there && was != place; err != nil || there {
			return err
		}
		return put(t, keyPlace, place)
	})
	return err == nil && moved, err
}

// Wait says whether the agent stands aside in this run, as one that may not be the only one.
func (a *Aside) Wait(waits bool) { a.disk.mirror.arrive(waits) }

// Arrived notes where the disk is now.
func (a *Aside) Arrived(place string) error {
	if err := a.disk.update(func(t state.Txn) error { return put(t, keyPlace, place) }); err != nil {
		return failing("keep where the disk is", err)
	}
	return nil
}

func (m *mirror) arrive(arriving bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.aside.arriving = arriving
}

// Stand keeps that the agent stands aside, with a self of its own. It counts at once, also where it
// cannot be written.
func (a *Aside) Stand(agent, incarnation string) (decide.Aside, error) {
	a.disk.mirror.heard(&decide.Aside{Incarnation: incarnation})
	return a.keep(agent, decide.Aside{Incarnation: incarnation, Self: a.newID()})
}

// GiveUp keeps that the other agent goes on. It counts at once, also where it cannot be written.
func (a *Aside) GiveUp(agent, incarnation string) (decide.Aside, error) {
	over := decide.Aside{Incarnation: incarnation, Superseded: true}
	a.disk.mirror.heard(&over)
	return a.keep(agent, over)
}

func (a *Aside) keep(agent string, as decide.Aside) (decide.Aside, error) {
	a.disk.crash.At("agent.aside.keep")
	if err := a.disk.update(func(t state.Txn) error { return put(t, keyAside, kept{agent, as}) }); err != nil {
		return decide.Aside{}, failing("keep that the disk was copied", err)
	}
	a.disk.mirror.heard(nil)
	a.disk.crash.At("agent.aside.kept")
	return as, nil
}

// Take takes the incarnation that the hub chose for this agent, if the present one is was. Requests end
// as unknown before, as by a renewal. The agent goes on when the hub has answered it.
func (a *Aside) Take(now time.Time, agent, was, incarnation string) (decide.Aside, error) {
	as := decide.Aside{Incarnation: incarnation, Taken: true}
	if err := a.identity.become(now, was, func() string { return incarnation }, func(t state.Txn) error { return put(t, keyAside, kept{agent, as}) }); err != nil {
		return decide.Aside{}, err
	}
	a.disk.mirror.heard(nil)
	return as, nil
}

// GoOn ends that the agent stands aside.
func (a *Aside) GoOn() error {
	if err := a.disk.update(func(t state.Txn) error { return t.Delete(keyAside) }); err != nil {
		return failing("go on after the disk was copied", err)
	}
	a.disk.mirror.heard(nil)
	a.disk.crash.At("agent.aside.over")
	return nil
}
