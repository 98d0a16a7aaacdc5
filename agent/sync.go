package agent

import (
	"fmt"
	"math/rand/v2"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// fades is how long the trouble that a message gave is shown after the last.
const fades = 10 * time.Minute

// sync takes a word of the hub; decide.Sync says what to make of it.
func (a *Agent) sync(m message.Sync) {
	in, err := a.store.Applied()
	if err != nil {
		a.log.Error("cannot read what is applied", "err", err)
		return
	}
	a.session.mu.Lock()
	snap := decide.SyncSnapshot{
		Session: a.session.id, Last: a.session.last, Incarnation: in.Incarnation, Fence: in.Fence, Applied: in.Heads, Digests: in.Digests,
	}
	asked := a.session.asked
	a.session.mu.Unlock()
	act := decide.Sync(snap, m)
	if act != decide.SyncStop && a.Over() {
		act = decide.SyncIgnore // of a hub that has forgotten it
	}
	a.met.syncs.WithLabelValues(string(act)).Inc()
	if act.Contact() {
		a.trial.heard()
	}
	switch act {
	case decide.SyncStop:
		a.refused(m)
	case decide.SyncIgnore:
	case decide.SyncDoubt:
		a.session.doubt(a.cfg.Clock())
		a.ask(0)
	case decide.SyncRival:
		a.twoHubs(m.Fence, in.Fence)
	case decide.SyncRenew:
		a.session.heed(m)
		a.renew(m.Renew)
	case decide.SyncAgain:
		a.session.heed(m)
		a.session.want()
		a.greeter.reply()
	case decide.SyncBehind:
		a.session.heed(m)
		a.reports.Raise(resource.CondHubBehind, "")
		a.reports.PokeAll()
	case decide.SyncHeed:
		a.session.heed(m)
		a.fresh(m, time.Time{})
	case decide.SyncLacking, decide.SyncAnswer:
		a.answered(m, in, asked, act == decide.SyncLacking)
	}
}

// answered takes an answer to a Hello.
func (a *Agent) answered(m message.Sync, in store.Applied, asked time.Time, lacking bool) {
	if m.Fence.Newer(in.Fence) {
		if err := a.store.Follow(m.Fence); err != nil {
			a.log.Error("cannot record the hub's fence", "err", err)
			a.reports.Raise(resource.CondStoreFailing, err.Error())
			return
		}
		a.log.Info("follows a hub", "fence", m.Fence.Number, "hub", m.Fence.Hub)
		a.reports.Clear(resource.CondTwoHubs) // of the hubs before; one that still speaks is told again
	}
	if !a.session.hasMet() {
		if err := a.store.Met(); err != nil {
			a.log.Error("cannot record that the hub has answered", "err", err)
			a.reports.Raise(resource.CondStoreFailing, err.Error())
			return
		}
	}
	first := !a.session.isAnswered()
	a.session.heed(m)
	a.session.answer(lacking, in, m.Epoch)
	a.greeter.answered()
	if lacking {
		a.greeter.ask(helloPause) // unless it has come by then
	}
	a.setReplaced(false)
	a.dismissed.Store(false)
	a.reports.Clear(resource.CondAgentReplaced)
	a.reports.Clear(resource.CondAgentUnknown)
	a.reports.Clear(resource.CondHubBehind)
	// What this agent refused and still lacks comes again.
	delete(a.troubles, resource.CondDocumentRefused)
	a.reports.Clear(resource.CondDocumentRefused)
	if !first {
		asked = time.Time{} // only the first answer can tell the time
	}
	a.fresh(m, asked)
	if first {
		a.reports.PokeAll() // with the session's nonce
		a.loops.LookAtAll() // what waited for the hub's time need not
	}
}

// fresh takes over what a Sync says whatever it answers. asked is zero where it does
// not tell the time.
func (a *Agent) fresh(m message.Sync, asked time.Time) {
	if !asked.IsZero() {
		a.hubClock.learn(m.At, asked)
	} else if a.hubClock.advance(m.At) {
		a.log.Warn("the hub's clock was stepped; its time is not known until it answers")
		a.session.renew(a.random(), nil)
		a.ask(0)
		return
	}
	if m.Trust != "" {
		a.news(m.Trust)
	}
	a.hubClock.verify(m.At, m.ValidFor)
	if verified, _ := a.hubClock.fresh(); verified {
		a.reports.Clear(resource.CondHubUnverified)
	}
	if err := a.store.Acknowledge(m.EventsAcked); err != nil {
		a.log.Error("cannot forget events", "err", err)
	}
	a.reports.Poke()
}

// refused is the hub's word that it does not serve this agent.
func (a *Agent) refused(m message.Sync) {
	code := m.Refused
	if len(m.Ended) > 0 || code == resource.CondAgentReplaced {
		a.dismissed.Store(true)
	}
	if len(m.Ended) > 0 {
		if err := a.End(m.Ended); err != nil {
			a.log.Error("the end of the term was not taken", "err", err)
		}
		return
	}
	// Only what a hub has on record is a fact here: one that knows nothing of this agent leaves it
	// as it was, and is as good as away.
	if code == resource.CondAgentReplaced && a.setReplaced(true) {
		a.log.Error("refused by the hub", "code", code)
	}
	a.reports.Raise(code, "the hub refuses this agent")
}

// renew takes a new incarnation, because the hub has seen that this disk is an older
// copy of itself. What waited for the hub waits on.
func (a *Agent) renew(was string) {
	a.hubClock.forget()
	a.dismissed.Store(true)
	if err := a.store.Renew(a.cfg.Clock(), was); err != nil {
		a.log.Error("cannot take a new incarnation", "err", err)
		a.reports.Raise(resource.CondStoreFailing, err.Error())
		return
	}
	a.dismissed.Store(false)
	a.log.Warn("this disk was rolled back; a new incarnation begins", "was", was)
	if err := a.reindex(); err != nil {
		a.log.Error("cannot read what is applied", "err", err)
	}
	a.session.reopen()
	a.greeter.reply()
	a.reports.PokeAll()
	a.loops.LookAtAll()
}

// twoHubs is the word of a hub that another one has taken over from.
func (a *Agent) twoHubs(said, followed message.Fence) {
	a.reports.RaiseFor(resource.CondTwoHubs, fmt.Sprintf("hub %s with fence %d, while %s with %d is followed", said.Hub, said.Number, followed.Hub, followed.Number), fades)
	a.ask(0)
}

// maxSpread bounds what an announcement may ask for.
const maxSpread = time.Minute

// announced is a hub's word that it has started.
func (a *Agent) announced(m message.Announce) {
	followed, err := a.store.Fence()
	if err != nil {
		a.log.Error("cannot read the fence", "err", err)
		return
	}
	if m.Fence != (message.Fence{}) && (followed.Newer(m.Fence) || m.Fence.Rivals(followed)) {
		a.twoHubs(m.Fence, followed)
		return
	}
	if !a.session.hear(m) {
		return
	}
	spread := time.Duration(0)
	if m.Spread > 0 {
		spread = rand.N(min(m.Spread, maxSpread))
	}
	a.ask(spread)
}

// setReplaced takes over whether another agent serves the rack.
func (a *Agent) setReplaced(replaced bool) (changed bool) {
	changed, err := a.store.SetReplaced(replaced)
	if err == nil && changed {
		err = a.reindex()
		a.loops.LookAtAll()
	}
	if err != nil {
		a.log.Error("cannot record whether this agent was replaced", "err", err)
	}
	return changed
}
