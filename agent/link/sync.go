package link

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
func (r *Room) sync(m message.Sync) {
	guards := r.on.guards()
	in, err := r.on.applied()
	if err != nil {
		r.cfg.Logger.Error("cannot read what is applied", "err", err)
		return
	}
	if m.Copied != nil {
		r.copied(*m.Copied, in.Incarnation)
		if in, err = r.on.applied(); err != nil {
			r.cfg.Logger.Error("cannot read what is applied", "err", err)
			return
		}
	}
	aside := r.aside.standing(in.Incarnation) == decide.AsideStands
	snap := decide.SyncSnapshot{Incarnation: in.Incarnation, Fence: in.Fence, Applied: in.Heads, Digests: in.Digests}
	_, snap.HubKept = r.hub.kept()
	if snap.HubSaid, err = openHubHead(r.Verifier(), m.HubHead); err != nil {
		r.cfg.Logger.Warn("the hub's word on its store cannot be opened", "err", err)
		snap.HubSaid = message.HubHead{}
	}
	var asked time.Time
	snap.Session, snap.Last, asked = r.session.stands()
	act := decide.Sync(snap, m)
	if guards || aside {
		act = decide.SyncGuarding(act, m.Again)
	}
	if act != decide.SyncStop && r.Over() {
		act = decide.SyncIgnore // of a hub that has forgotten it
	}
	r.met.syncs.WithLabelValues(string(act)).Inc()
	if act.Contact() {
		r.cfg.Heard.Contact()
	}
	switch act {
	case decide.SyncStop:
		r.refused(m)
	case decide.SyncIgnore:
	case decide.SyncDoubt:
		r.session.doubt(r.cfg.Clock())
		r.ask(0)
	case decide.SyncRival:
		r.twoHubs(m.Fence, in.Fence)
	case decide.SyncRenew:
		r.session.heed(m)
		r.renew(m.Renew, m.Had)
	case decide.SyncAgain:
		r.session.heed(m)
		r.session.want()
		r.greeter.reply()
	case decide.SyncBehind:
		r.session.heed(m)
		if decide.HubHead(snap.HubKept, snap.HubSaid).Behind() {
			r.hub.fallsBehind()
			r.ask(0) // with what was kept: the hub learns it from its own word
		}
		r.cfg.Reports.Raise(resource.CondHubBehind, "")
		r.cfg.Reports.PokeAll()
	case decide.SyncHeed:
		if aside && !guards && !r.follow(m.Fence, in.Fence) {
			return
		}
		if (guards || aside) && r.aside.told() {
			r.greeter.answered()
		}
		if (guards || aside) && !r.session.isAnswered() {
			r.session.guarded()
			defer r.cfg.Heard.LookAtAll()
			defer r.cfg.Reports.PokeAll() // with the session's nonce: those of before are not believed
		} else {
			asked = time.Time{} // only the first answer can tell the time
		}
		r.session.heed(m)
		r.fresh(m, asked)
	case decide.SyncLacking, decide.SyncAnswer:
		if err := r.hub.keep(m.HubHead, snap.HubSaid); err != nil {
			r.cfg.Logger.Error("what the hub's store has is not kept", "err", err)
		}
		r.answered(m, in, asked, act == decide.SyncLacking)
	}
}

// answered takes an answer to a Hello.
func (r *Room) answered(m message.Sync, in store.Applied, asked time.Time, lacking bool) {
	if !r.follow(m.Fence, in.Fence) {
		return
	}
	if on, err := r.aside.answered(in.Incarnation); err != nil {
		r.cfg.Logger.Error("cannot record that this agent goes on", "err", err)
		r.cfg.Reports.Raise(resource.CondGuardMode, err.Error())
		return
	} else if on {
		r.cfg.Logger.Warn("goes on: the other agent of the same disk does not", "incarnation", in.Incarnation)
		r.aside.say(r.cfg, r.on)
		if err := r.cfg.Heard.Changed(); err != nil {
			r.cfg.Logger.Error("cannot read what is on disk", "err", err)
		}
		r.cfg.Heard.LookAtAll()
	}
	if !r.session.hasMet() {
		if err := r.cfg.Store.Events.Met(); err != nil {
			r.cfg.Logger.Error("cannot record that the hub has answered", "err", err)
			r.cfg.Reports.Raise(resource.CondGuardMode, err.Error())
			return
		}
	}
	first := !r.session.isAnswered()
	r.session.heed(m)
	r.session.answer(lacking, in, m.Epoch)
	r.greeter.answered()
	if lacking {
		r.greeter.ask(helloPause) // unless it has come by then
	}
	r.setReplaced(false)
	r.dismissed.Store(false)
	r.cfg.Reports.Clear(resource.CondAgentReplaced)
	r.cfg.Reports.Clear(resource.CondAgentUnknown)
	r.cfg.Reports.Clear(resource.CondHubBehind)
	// What this agent refused and still lacks comes again.
	delete(r.troubles, resource.CondDocumentRefused)
	r.cfg.Reports.Clear(resource.CondDocumentRefused)
	if !first {
		asked = time.Time{} // only the first answer can tell the time
	}
	r.fresh(m, asked)
	if wait := r.aside.met(r.cfg.Clock()); wait > 0 && first {
		time.AfterFunc(wait, r.arrive)
	}
	if first {
		r.cfg.Reports.PokeAll() // with the session's nonce
		r.cfg.Heard.LookAtAll() // what waited for the hub's time need not
	}
	if !lacking {
		r.cfg.inStep(r.on)
	}
}

// follow follows a hub that has answered. It reports whether it is followed now.
func (r *Room) follow(f, before message.Fence) bool {
	if !f.Newer(before) {
		return true
	}
	if err := r.cfg.Store.Term.Follow(f); err != nil {
		r.cfg.Logger.Error("cannot record the hub's fence", "err", err)
		r.cfg.Reports.Raise(resource.CondGuardMode, err.Error())
		return false
	}
	r.cfg.Logger.Info("follows a hub", "fence", f.Number, "hub", f.Hub)
	r.cfg.Reports.Clear(resource.CondTwoHubs) // of the hubs before; one that still speaks is told again
	return true
}

// fresh takes over what a Sync says whatever it answers. asked is zero where it does
// not tell the time.
func (r *Room) fresh(m message.Sync, asked time.Time) {
	if !asked.IsZero() {
		r.clock.learn(m.At, asked)
	} else if r.clock.advance(m.At) {
		r.cfg.Logger.Warn("the hub's clock was stepped; its time is not known until it answers")
		r.session.renew(r.cfg.NewID(), nil)
		r.ask(0)
		return
	}
	if m.Trust != "" {
		r.cfg.Heard.News(m.Trust)
	}
	r.clock.verify(m.At, m.ValidFor)
	if verified, _ := r.clock.fresh(); verified {
		r.cfg.Reports.Clear(resource.CondHubUnverified)
	}
	if m.EventsAcked > 0 && !r.on.guards() {
		if err := r.cfg.Store.Events.Acknowledge(m.EventsAcked); err != nil {
			r.cfg.Logger.Error("cannot forget events", "err", err)
		}
	}
	if m.Heads != nil {
		r.cfg.Reports.Had(m.Reported)
	}
	r.cfg.Reports.Poke()
}

// refused is the hub's word that it does not serve this agent.
func (r *Room) refused(m message.Sync) {
	code := m.Refused
	if len(m.Ended) > 0 || code == resource.CondAgentReplaced {
		r.dismissed.Store(true)
	}
	if len(m.Ended) > 0 {
		if err := r.End(m.Ended); err != nil {
			r.cfg.Logger.Error("the end of the term was not taken", "err", err)
		}
		return
	}
	// Only what a hub has on record is a fact here: one that knows nothing of this agent leaves it
	// as it was, and is as good as away.
	if code == resource.CondAgentReplaced && r.setReplaced(true) {
		r.cfg.Logger.Error("refused by the hub", "code", code)
	}
	r.cfg.Reports.Raise(code, "the hub refuses this agent")
}

// renew takes it that the hub has seen that this disk is an older copy of itself. What it says may have
// been done differently since, so that nothing is begun by it. Where nobody opens another store, the
// agent takes a new incarnation, and what waited for the hub waits on.
func (r *Room) renew(was string, had uint64) {
	r.clock.forget()
	r.dismissed.Store(true)
	if r.cfg.Lost != nil {
		r.cfg.Logger.Error("the hub was told of more than this store has: it is an older copy", "incarnation", was, "had", had)
		r.cfg.Lost(was, had)
		return
	}
	if err := r.cfg.Store.Identity.Renew(r.cfg.Clock(), was); err != nil {
		r.cfg.Logger.Error("cannot take a new incarnation", "err", err)
		r.cfg.Reports.Raise(resource.CondGuardMode, err.Error())
		return
	}
	r.dismissed.Store(false)
	r.cfg.Logger.Warn("this disk was rolled back; a new incarnation begins", "was", was)
	if err := r.cfg.Heard.Changed(); err != nil {
		r.cfg.Logger.Error("cannot read what is applied", "err", err)
	}
	r.session.reopen()
	r.greeter.reply()
	r.cfg.Reports.PokeAll()
	r.cfg.Heard.LookAtAll()
}

// twoHubs is the word of a hub that another one has taken over from.
func (r *Room) twoHubs(said, followed message.Fence) {
	r.cfg.Reports.RaiseFor(resource.CondTwoHubs, fmt.Sprintf("hub %s with fence %d, while %s with %d is followed", said.Hub, said.Number, followed.Hub, followed.Number), fades)
	r.ask(0)
}

// maxSpread bounds what an announcement may ask for.
const maxSpread = time.Minute

// announced is a hub's word that it has started.
func (r *Room) announced(m message.Announce) {
	followed, err := r.cfg.Store.Term.Fence()
	if err != nil {
		r.cfg.Logger.Error("cannot read the fence", "err", err)
		return
	}
	if m.Fence != (message.Fence{}) && (followed.Newer(m.Fence) || m.Fence.Rivals(followed)) {
		r.twoHubs(m.Fence, followed)
		return
	}
	if !r.session.hear(m) {
		return
	}
	spread := time.Duration(0)
	if m.Spread > 0 {
		spread = rand.N(min(m.Spread, maxSpread))
	}
	r.ask(spread)
}

// setReplaced takes over whether another agent serves the rack.
func (r *Room) setReplaced(replaced bool) (changed bool) {
	changed, err := r.cfg.Store.Term.SetReplaced(replaced)
	if err == nil && changed {
		err = r.cfg.Heard.Changed()
		r.cfg.Heard.LookAtAll()
	}
	if err != nil {
		r.cfg.Logger.Error("cannot record whether this agent was replaced", "err", err)
	}
	return changed
}
