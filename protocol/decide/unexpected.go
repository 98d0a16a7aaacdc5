package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Unexpected is a power transition that no order of ours explains. It stays until an
// operator's order, or until the server was brought where it shall be by one.
type Unexpected struct {
	At time.Time           `json:"at"`
	To protocol.PowerState `json:"to"`
	// By is what showed it; empty in records of releases that did not note it.
	By protocol.UnexpectedBy `json:"by,omitempty"`
	// From is when the server was last read before: what was heard since may be of it.
	From time.Time `json:"from,omitzero"`
	// Image is when the server was given the stop image since, Asked when its firmware
	// asked for a boot, Heard when its operating system was first heard.
	Image time.Time `json:"image,omitzero"`
	Asked time.Time `json:"asked,omitzero"`
	Heard time.Time `json:"heard,omitzero"`
	// Stands is where the server is taken to stand, and Why; of one that is On.
	Stands protocol.Stands `json:"stands,omitempty"`
	Why    string          `json:"why,omitempty"`
}

// UnexpectedReport is the transition as it is reported; nil without one.
func (r *Record) UnexpectedReport() *protocol.UnexpectedReport {
	u := r.Unexpected
	if u == nil {
		return nil
	}
	return &protocol.UnexpectedReport{At: u.At, To: u.To, By: u.By, Stands: u.Stands, Why: u.Why}
}

// came notes a transition without an order. Another source that shows the same one
// later says nothing new.
func (p *step) came(to protocol.PowerState, by protocol.UnexpectedBy, format string, args ...any) {
	if u := p.rec.Unexpected; u != nil && u.To == to && to != protocol.PowerOff && u.By != by && p.now.Sub(u.At) < resetQuiet {
		return
	}
	from := p.now
	if last := p.watch.Last.StartedAt; !last.IsZero() && last.Before(from) {
		from = last
	}
	p.rec.Unexpected = &Unexpected{At: p.now, To: to, By: by, From: from}
	p.dirty = true
	p.plan.Measured.Unexpected = append(p.plan.Measured.Unexpected, by)
	p.happened(resource.EventUnexpected, format, args...)
}

// seenBy is the source of the read that is being folded.
func seenBy(o protocol.Observation) protocol.UnexpectedBy {
	if o.Source == protocol.SourceEvent {
		return protocol.ByEvent
	}
	return protocol.ByPoll
}

// Orders are the orders of ours that explain what a server does: until a moment, or for
// as long as something is under way. The zero value is none.
type Orders struct {
	Open  bool
	Until time.Time
}

// Explain says whether an order explains what the server does at a moment.
func (o Orders) Explain(at time.Time) bool { return o.Open || at.Before(o.Until) }

// Orders are those of a record. What an order caused shows within resetQuiet, unless the
// order's boot is known to be over: its image has reported, the BMC showed an
// operating system after its firmware, or something else came since.
func (r *Record) Orders() Orders {
	a, done := r.Attempt, r.Progress
	since := r.Unexpected != nil && r.Unexpected.At.After(r.Ordered)
	switch {
	case a.Open(), r.Stop != nil, r.Rearm != nil && r.Rearm.State == RearmArmed:
		return Orders{Open: true}
	case r.Ordered.IsZero(), since, a != nil && a.Repeat && a.State == resource.AttemptSucceeded && !r.Ordered.After(a.Since),
		done.Class == progressOS && done.Followed && done.Since.After(r.Ordered):
		return Orders{}
	}
	return Orders{Until: r.Ordered.Add(resetQuiet)}
}

func (p *step) lately(at time.Time) bool { return p.rec.Orders().Explain(at) }

// cycled folds that a server which is taken to be On was off in between, or was reset:
// since is when it was read last before.
func (p *step) cycled(o protocol.Observation, since time.Time, by protocol.UnexpectedBy) {
	a := p.rec.Attempt
	p.watch.OffSince, p.watch.Proofs = time.Time{}, nil
	if len(p.rec.Receipts) == 0 {
		switch {
		case p.work:
			return // it resets servers
		case a != nil && !a.OnPending.IsZero(): // our On, whose effect nobody saw
			p.rec.Epoch++
			p.poweredOn(a.OnSent, Booted{OwnerUID: a.OwnerUID, Digest: a.Digest})
			a.OnPending = time.Time{}
			return
		}
	}
	p.rec.Epoch++
	if since.IsZero() {
		since = p.now
	}
	p.poweredOn(since, bootedFor(p.snap.Intent))
	p.came(o.Power, by, "the server was reset without an order, as its %s shows; it is %s", by, o.Power)
	for _, h := range p.snap.Holds {
		p.violated(h, "the server was on since the last read")
	}
}

// asks folds that the server's firmware asked for a boot that no order of ours
// explains. Anybody on the segment can send that, so that it makes nothing of a server
// that is held or read Off: the next read tells.
func (p *step) asks(at time.Time, by protocol.UnexpectedBy) {
	p.watch.Asked = at
	if p.rec.Power != protocol.PowerOn || len(p.snap.Holds) > 0 || p.work || p.lately(at) {
		return
	}
	if u := p.rec.Unexpected; u == nil || u.To == protocol.PowerOff {
		p.rec.Epoch++
		p.poweredOn(at, bootedFor(p.snap.Intent))
		p.came(protocol.PowerOn, by, "the server was started without an order: its firmware asks for a boot")
		if at.Before(p.rec.Unexpected.From) {
			p.rec.Unexpected.From = at
		}
	}
}

// since is when what was heard at a moment counts for the transition: the zero time if
// it was before.
func (u *Unexpected) since(at time.Time) time.Time {
	if at.Before(u.From) {
		return time.Time{}
	}
	return at
}

// signs takes over what was heard of a server since it came on without an order.
func (p *step) signs(u *Unexpected) {
	for _, s := range []struct {
		have *time.Time
		at   time.Time
	}{{&u.Image, p.watch.Image}, {&u.Asked, p.watch.Asked}, {&u.Heard, p.watch.Heard}} {
		if at := u.since(s.at); s.have.IsZero() && !at.IsZero() {
			*s.have, p.dirty = at, true
		}
	}
}
