package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// UnexpectedReport is the transition as it is reported; nil without one.
func (r *Record) UnexpectedReport() *protocol.UnexpectedReport {
	u := r.Unexpected
	if u == nil {
		return nil
	}
	return &protocol.UnexpectedReport{At: u.At, To: u.To, By: u.By, Stands: u.Stands, Why: u.Why}
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
	a, done := r.Attempt, r.Shown.Progress
	since := r.Unexpected != nil && r.Unexpected.At.After(r.Ordered)
	switch {
	case a.Open(), r.Stop != nil, r.Residue.Rearm() != nil && r.Residue.Rearm().State == RearmArmed:
		return Orders{Open: true}
	case r.Ordered.IsZero(), since, a != nil && a.Order.Repeat && a.Stage.State == resource.AttemptSucceeded && !r.Ordered.After(a.Stage.Since),
		done.Class == progressOS && done.Followed && done.Since.After(r.Ordered):
		return Orders{}
	}
	return Orders{Until: r.Ordered.Add(resetQuiet)}
}

// since is when what was heard at a moment counts for the transition: the zero time if
// it was before.
func (u *Unexpected) since(at time.Time) time.Time {
	if at.Before(u.From) {
		return time.Time{}
	}
	return at
}
