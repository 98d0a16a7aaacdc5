package decide

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// draft is a plan in the making, with the record and the watch that go with it, and what lies on
// the server while it is made. It is all that a step writes.
type draft struct {
	now    time.Time
	up     time.Duration // Snapshot.Uptime
	server string
	rec    Record
	watch  Watch
	plan   Plan
	dirty  bool // the record is to be put on disk
	conds  []resource.ConditionState

	holds []Hold    // in force; those that end with this step are not among them
	work  bool      // firmware work is marked now
	ice   bool      // a freeze lies on it now
	trig  triggered // what triggerRule says in this step
}

// begin takes what a step begins with.
func (dr *draft) begin(now time.Time, s *Snapshot) {
	dr.now, dr.up, dr.server, dr.rec, dr.watch = now, s.Uptime, s.Server, s.Record.clone(), s.Watch
	dr.holds, dr.work, dr.ice = s.Holds, Working(s.Firmware, s.HubTime, now), IsFrozen(s.Frozen, s.HubTime, now)
	dr.plan.RecheckAt = now.Add(s.Settings.PollInterval)
	dr.plan.Action.Kind = ActNone
	dr.rec.Server = s.Server
}

// finish returns the plan.
func (dr *draft) finish() Plan {
	dr.plan.Record, dr.plan.Persist, dr.plan.Watch = dr.rec, dr.dirty, dr.watch
	return dr.plan
}

// ordered notes that a reset is about to be sent.
func (dr *draft) ordered(k ActionKind, format string, args ...any) {
	dr.rec.Ordered = dr.now
	dr.dirty = true
	dr.happened(resource.EventOrdered, string(k)+": "+format, args...)
}

// quietAt is when no On of ours can take effect any more, by the clock of Snapshot.Uptime; now if
// none can. One that an earlier run of the agent has sent is waited for as if it had just been:
// between two runs there is no clock that nobody sets.
func (dr *draft) quietAt() time.Duration {
	a := dr.rec.Attempt
	switch {
	case !a.unconfirmed():
		return 0
	case !dr.watch.On.Pending.Equal(a.Stage.PowerOn.Pending): // sent in this step
		return dr.up + onBound(dr.rec.Shown.OnTook)
	}
	return dr.watch.On.Since + onBound(dr.rec.Shown.OnTook)
}

// pending says whether an On of ours can still take effect. Nothing new is begun meanwhile:
// with the attempt that sent the On it would be forgotten that it was sent.
func (dr *draft) pending() bool { return dr.quietAt() > dr.up }

// awaitQuiet reads again once no On of ours can take effect any more, and reports
// whether one still can.
func (dr *draft) awaitQuiet() bool {
	if !dr.pending() {
		return false
	}
	dr.recheck(dr.quietAt() - dr.up)
	return true
}

// mark notes that a part is over, once. A moment before it that is not known, or lies
// behind it because the clock was set, makes no span.
func (dr *draft) mark(at *time.Time, now time.Time, part Part, from time.Time) {
	if !at.IsZero() {
		return
	}
	*at = now
	dr.dirty = true
	dr.span(part, from, now)
}

func (dr *draft) span(part Part, from, to time.Time) {
	if took := to.Sub(from); !from.IsZero() && took >= 0 {
		dr.plan.Measured.Spans = append(dr.plan.Measured.Spans, Span{part, took})
	}
}

// took forgets what was refused of a kind of action that the BMC has taken now. What
// failed after it was taken is forgotten by its effect only.
func (dr *draft) took(k ActionKind) {
	if dr.watch.Refused[k].Fault.Kind != protocol.FaultTask {
		dr.forgive(k)
	}
}

// refused notes a refusal. The map is shared with the snapshot, so it is copied.
func (dr *draft) refused(r Result) {
	m := maps.Clone(dr.watch.Refused)
	if m == nil {
		m = map[ActionKind]Refusal{}
	}
	message := r.Message
	if message == "" {
		message = told(r)
	}
	m[r.Action] = Refusal{
		Message: message, Busy: r.Busy || r.Outcome == protocol.BootRefusedByState,
		Fault: r.Fault, Times: m[r.Action].Times + 1,
	}
	dr.watch.Refused = m
}

// forgive forgets the refusals of some kinds of action.
func (dr *draft) forgive(kinds ...ActionKind) {
	m := maps.Clone(dr.watch.Refused)
	maps.DeleteFunc(m, func(k ActionKind, _ Refusal) bool { return slices.Contains(kinds, k) })
	dr.watch.Refused = m
}

// countAnew begins to count the refusals of a kind of action anew.
func (dr *draft) countAnew(k ActionKind) {
	m := maps.Clone(dr.watch.Refused)
	if r, ok := m[k]; ok {
		r.Times = 0
		m[k] = r
	}
	dr.watch.Refused = m
}

// act sets the one action of the plan.
func (dr *draft) act(a Action) { dr.plan.Action = a }

// idle says whether nothing is sent yet in this step.
func (dr *draft) idle() bool { return dr.plan.Action.Kind == ActNone }

// first does what is due in its order, until something is sent: one thing is in a step, and what needs to
// wait leaves it to the next.
func (dr *draft) first(due ...func()) {
	for _, do := range due {
		if dr.idle() {
			do()
		}
	}
}

func (dr *draft) recheck(d time.Duration) { dr.recheckAt(dr.now.Add(d)) }

func (dr *draft) recheckAt(t time.Time) {
	if t.Before(dr.now) {
		t = dr.now
	}
	if t.Before(dr.plan.RecheckAt) {
		dr.plan.RecheckAt = t
	}
}

func (dr *draft) happened(code resource.EventCode, format string, args ...any) {
	dr.plan.Happened = append(dr.plan.Happened, resource.Event{
		At: dr.now, Server: dr.server, Code: code, Message: fmt.Sprintf(format, args...),
	})
}

// had says whether a condition was so before the step.
func (dr *draft) had(code resource.ConditionCode) bool {
	return slices.ContainsFunc(dr.rec.Conditions, func(c resource.ConditionState) bool { return c.Code == code })
}

func (dr *draft) raise(code resource.ConditionCode, format string, args ...any) {
	if slices.ContainsFunc(dr.conds, func(c resource.ConditionState) bool { return c.Code == code }) {
		return
	}
	dr.conds = append(dr.conds, resource.ConditionState{Code: code, Message: fmt.Sprintf(format, args...)})
}

// poweredOn notes a power-on before which everything was stopped.
func (dr *draft) poweredOn(at time.Time, what Booted) {
	dr.rec.LastPoweredOn, dr.rec.Booted = at, &what
	if !dr.rec.PendingRebootSince.After(at) {
		dr.rec.Pending = false
	}
	dr.dirty = true
}

// withdraw forgets that a reboot is pending: nobody asks for it any more.
func (dr *draft) withdraw() {
	if dr.rec.Pending {
		dr.rec.Pending = false
		dr.dirty = true
	}
}

// steady brings times that lie ahead of the clock back to now: the clock was
// stepped back, and what waits for them must not wait for as long as the step
// was. Durations then run anew, so what they bound comes late, never
// early.
func (dr *draft) steady() {
	back := func(t *time.Time) {
		if t.After(dr.now) {
			*t = dr.now
			dr.dirty = true
		}
	}
	if s := dr.rec.Stop; s != nil {
		back(&s.Since)
		back(&s.Graceful)
		back(&s.Forced)
	}
	if a := dr.rec.Attempt; a != nil {
		if a.At.After(dr.now) {
			// It is older than whatever is accepted in this step: no resume takes it for
			// the boot that it has caused.
			a.At, dr.dirty = dr.now.Add(-1), true
		}
		back(&a.Stage.Since)
		back(&a.Stage.PowerOn.Sent)
		back(&a.Stage.PowerOn.Again)
		back(&a.Stage.PowerOn.First)
		back(&a.Stage.PowerOn.Pending)
	}
	for i := range dr.rec.Requests {
		back(&dr.rec.Requests[i].AcceptedAt)
		back(&dr.rec.Requests[i].From)
	}
	back(&dr.rec.Ordered)
	back(&dr.rec.PendingRebootSince)
}

// pace leaves a BMC alone for as long as it asked, or as it is not asked anyway: until
// it answers, nothing can be decided. Never for longer than between two polls.
func (dr *draft) pace(s *Snapshot) {
	pause := max(s.RetryAfter, unreadPause(dr.watch.Unread.Reads))
	if pause <= 0 || dr.plan.Action.Kind != ActNone {
		return
	}
	if at := dr.now.Add(min(pause, s.Settings.PollInterval)); dr.plan.RecheckAt.Before(at) {
		dr.plan.RecheckAt = at
	}
}

// explained forgets the power transition that no order explains: somebody has decided about the
// server since, or what it led to ended well.
func (dr *draft) explained() { dr.rec.Unexpected, dr.dirty = nil, true }
