package decide

import (
	"fmt"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// sightings folds what a BMC was seen to show: power, resets, what no order explains, and where
// a server stands that came on so.
type sightings struct {
	d *draft
	s *Snapshot
}

func (si sightings) stops() stops { return stops(si) }

func (si sightings) attempts() attempts { return attempts(si) }

func (si sightings) disarming() disarming { return disarming{si.d} }

func (si sightings) proofs() proofs { return proofs(si) }

// shows notes a change of what the BMC shows of the power. What it shows again says
// nothing new: an idle rack has no events.
func (si sightings) shows(o protocol.Observation) {
	if o.Power == si.d.rec.Shown.Seen {
		return
	}
	if si.d.rec.Shown.Seen == "" {
		si.d.happened(resource.EventPowerSeen, "%s", o.Power)
	} else {
		si.d.happened(resource.EventPowerSeen, "%s after %s", o.Power, si.d.rec.Shown.Seen)
	}
	si.d.rec.Shown.Seen, si.d.dirty = o.Power, true
}

// unread folds a read into the run. What a BMC that does not answer any more did before
// counts on while it is not asked: it is not known to be away.
func (si sightings) unread(o protocol.Observation) {
	u := &si.d.watch.Unread
	switch {
	case o.Power == protocol.PowerUnknown, o.Power == protocol.PowerUnreachable && o.Fault.Kind == protocol.FaultSlow:
		if u.Since.IsZero() || u.Since.After(si.d.now) {
			u.Since = o.ReadAt
		}
		if u.Fault = o.Fault; !si.s.Busy { // else the BMC says itself when to read
			u.Reads++
		}
	case o.Power == protocol.PowerUnreachable && !si.s.Busy && si.s.RetryAfter > 0 && u.Fault.Kind == protocol.FaultSlow:
	default:
		*u = Unread{}
	}
}

// observe folds one read of the BMC into record and watch.
func (si sightings) observe(o protocol.Observation) {
	last, epoch, power := si.d.watch.Last, si.d.rec.Shown.Epoch, si.d.rec.Shown.Power
	si.d.watch.Busy = si.s.Busy
	si.shows(o)
	si.proofs().silent(o)
	si.unread(o)
	si.disarming().leftover(o)
	switch o.Power {
	case protocol.PowerOff:
		si.sawOff(o)
	case protocol.PowerUnknown, protocol.PowerUnreachable:
		// Nothing is known, so nothing is concluded; a run of Off reads ends.
	default:
		si.sawRunning(last, o)
	}
	si.reset(o, last, epoch, power)
	si.progressed(o, last, epoch, power)
	si.logged(o, last, epoch, power)
	switch o.Power {
	case protocol.PowerOff:
		si.proofs().lapse(si.s.Read.Answered, si.d.watch.Off.next(si.s.Read).Quickest)
		if si.d.watch.OffSince.IsZero() || si.d.watch.Off.Last.Sent < si.d.quietAt() {
			si.d.watch.OffSince = o.ReadAt // since the last read an On of ours may have come and gone
		}
		si.proofs().prove(o)
	case protocol.PowerUnknown, protocol.PowerUnreachable:
		si.proofs().unanswered()
	default:
		si.proofs().parted()
	}
	si.d.watch.Last = o
	si.d.watch.Last.ManagerTime = "" // else it would be news
	if o.Order.Kind != "" {
		si.orderFailed(o.Order)
	}
	si.proofs().contradict()
}

func (si sightings) sawOff(o protocol.Observation) {
	if si.d.rec.Shown.Power == protocol.PowerOff {
		return
	}
	first := si.d.rec.Shown.Power == ""
	si.d.rec.Shown.Power = protocol.PowerOff
	si.d.dirty = true
	a := si.d.rec.Attempt
	if a != nil {
		si.attempts().stopped()
	}
	switch {
	case first:
	case si.d.rec.Stop != nil:
		si.d.happened(resource.EventStopped, "")
	case a != nil && a.Network() && a.Stage.State == resource.AttemptSucceeded && !a.Order.Repeat:
		si.d.happened(resource.EventStopped, "the installer ended")
	case a != nil && a.Stage.State == resource.AttemptFailed && a.forDiscovery() && si.d.rec.runsFor(a.Order.OwnerUID) == runsThis:
		si.d.happened(resource.EventStopped, "the image of the discovery ended")
	case a.Open():
		// The attempt says what this means.
	default:
		si.unexpected(protocol.PowerOff, seenBy(o))
	}
}

func (si sightings) sawRunning(last, o protocol.Observation) {
	if si.d.rec.Shown.Power == protocol.PowerOn || si.notYetOff(o.Power) {
		return
	}
	first := si.d.rec.Shown.Power == ""
	a := si.d.rec.Attempt
	ours := a != nil && !a.Stage.PowerOn.Pending.IsZero() && a.Stage.Epoch == si.d.rec.Shown.Epoch && si.d.now.Sub(a.Stage.PowerOn.Pending) <= onTimeout
	si.d.rec.Shown.Power = protocol.PowerOn
	si.d.rec.Shown.Epoch++
	si.d.dirty = true
	if ours {
		si.took(o)
	}
	if a != nil {
		si.attempts().came()
	}
	si.d.forgive(ActOn, ActRestart)
	if first {
		return
	}
	switch {
	case ours:
		si.d.poweredOn(a.Stage.PowerOn.Sent, Booted{OwnerUID: a.Order.OwnerUID, Digest: a.Order.Digest})
		si.d.explained()
	case !last.StartedAt.IsZero() && last.Power == protocol.PowerOff:
		si.d.poweredOn(last.StartedAt, bootedFor(si.s.Intent))
	default:
		si.d.poweredOn(si.d.now, bootedFor(si.s.Intent))
	}
	if !ours {
		si.unexpected(protocol.PowerOn, seenBy(o))
	}
	for _, h := range si.d.holds {
		if _, proved := si.d.rec.Holds.Receipts[h.ID]; ours && !proved {
			continue // sent before the hold; it is stopped like any running server
		}
		si.proofs().violated(h, "the server came on")
	}
}

// took notes how long the BMC took from the first On of ours that may have had this effect. That of
// an earlier run of the agent is measured by the host's clock, and never believed beyond the time
// for which On is sent.
func (si sightings) took(o protocol.Observation) {
	on := si.d.rec.Attempt.Stage.PowerOn
	took := min(max(o.ReadAt.Sub(on.First), 1), onTimeout)
	if took > si.d.rec.Shown.OnTook {
		si.d.rec.Shown.OnTook = took
	}
}

// notYetOff says whether PoweringOff is the end of the run before our On: some BMCs
// show Off as soon as they took the order, before the server is (RackN's
// power-confirm-timeout). That On may still take effect.
func (si sightings) notYetOff(power protocol.PowerState) bool {
	return power == protocol.PowerPoweringOff && si.d.pending() && len(si.d.rec.Holds.Receipts) == 0
}

func (si sightings) unexpected(to protocol.PowerState, by protocol.UnexpectedBy) {
	was := si.d.rec.Unexpected
	if to == protocol.PowerOff && was != nil && !was.Image.IsZero() {
		si.came(to, by, "the server went %s without an order, out of the stop image", to)
		return
	}
	si.came(to, by, "the server went %s without an order", to)
}

// orderFailed folds the end of a Task that the BMC had made of an order, and that failed:
// the order was taken, and refused after that. It is sent again after a pause that doubles.
func (si sightings) orderFailed(f protocol.BMCFault) {
	kind := actionOf(f.Reset)
	if kind == ActNone {
		return
	}
	si.d.refused(Result{Action: kind, Fault: f, Message: f.Words()})
	if kind == ActForceOff {
		si.stops().untaken()
	}
	if kind == ActOn || kind == ActRestart {
		si.d.watch.Pause = si.d.now.Add(againPause(si.d.watch.Refused[kind].Times))
	}
}

// progressed compares the BootProgress of a read with the last that said anything.
// epoch and power are the record's before the read.
func (si sightings) progressed(o, last protocol.Observation, epoch uint64, power protocol.PowerState) {
	was, is := si.d.rec.Shown.Progress.Class, progressOf(o.BootProgress)
	if o.Power == protocol.PowerOff {
		is = progressNone
		if was == progressNone {
			return
		}
	} else if is == progressNone || is == was || o.Power == protocol.PowerUnknown || o.Power == protocol.PowerUnreachable {
		return
	}
	restarted := progressRule(was, is, si.d.rec.Shown.Epoch != epoch || si.d.rec.Shown.Power != power, si.d.rec.Orders().Explain(o.StartedAt))
	si.d.rec.Shown.Progress, si.d.dirty = Progress{Class: is, Since: si.d.now, Followed: was == progressFirmware || was == progressSetup}, true
	if restarted {
		si.cycled(o, last.StartedAt, protocol.ByProgress)
	}
}

// reset compares the LastResetTime of a read with that of the last one that had any,
// for change only. epoch is the record's before the read, and power.
func (si sightings) reset(o protocol.Observation, last protocol.Observation, epoch uint64, power protocol.PowerState) {
	is := resetTime(o.LastResetTime)
	if is.IsZero() {
		return
	}
	w := &si.d.watch.Reset
	was := w.Time
	if was.IsZero() {
		was = si.d.rec.Shown.LastReset
	}
	m := si.moved(was, is, si.clock(o))
	if w.Time.IsZero() || movedOf(w.Time, is) != movedSame {
		w.Since = si.s.Read.Answered
	}
	w.Time, w.Last = is, si.s.Read.Sent
	if movedOf(si.d.rec.Shown.LastReset, is) != movedSame {
		si.d.rec.Shown.LastReset, si.d.dirty = is, true
		if at := resetTime(o.ManagerTime); !at.IsZero() {
			si.d.rec.Shown.Clock = BMCClock{Ahead: at.Sub(o.ReadAt), At: o.ReadAt}
		}
	}
	if resetRule(m, si.d.rec.Shown.Epoch != epoch || si.d.rec.Shown.Power != power, si.d.rec.Orders().Explain(o.StartedAt)) {
		si.cycled(o, last.StartedAt, protocol.ByResetTime)
	}
}

// logged compares the newest entry about power in the BMC's log with the last one, by
// resetRule: an entry that is another one is a later one.
func (si sightings) logged(o, last protocol.Observation, epoch uint64, power protocol.PowerState) {
	if o.PowerLog == "" || o.PowerLog == si.d.rec.Shown.PowerLog {
		return
	}
	m := movedLater
	if si.d.rec.Shown.PowerLog == "" {
		m = movedFirst
	}
	si.d.rec.Shown.PowerLog, si.d.dirty = o.PowerLog, true
	if o.Power != protocol.PowerOff && resetRule(m, si.d.rec.Shown.Epoch != epoch || si.d.rec.Shown.Power != power, si.d.rec.Orders().Explain(o.StartedAt)) {
		si.cycled(o, last.StartedAt, protocol.ByLog)
	}
}

// stand concludes where a server stands that came on without an order.
func (si sightings) stand() {
	u := si.d.rec.Unexpected
	switch power := si.d.watch.Last.Power; {
	case u == nil || u.To == protocol.PowerOff:
		return
	case power == "", power == protocol.PowerOff, power == protocol.PowerUnknown, power == protocol.PowerUnreachable:
		return // nothing is known now
	}
	si.signs(u)
	class, reason := protocol.SafeStopUnknown, "its boot order was not read yet"
	if s := si.d.rec.Safety; s != nil {
		class, reason = s.SafeStop.Class, s.SafeStop.Reason
	}
	s, what := shownOf(u, si.d.watch.Last, si.d.rec.Shown.Progress)
	heard, quiet := signOf(u), si.d.now.Sub(u.At) >= si.s.Settings.believeAfter()
	is := standsRule(s, heard, quiet, class)
	if is == protocol.StandsOpen {
		si.d.recheck(standEvery)
		si.d.recheckAt(u.At.Add(si.s.Settings.believeAfter()))
	}
	why := ""
	switch {
	case heard == signOS:
		why = "its operating system was heard"
	case heard == signImage:
		why = "it has the stop image"
	case s != shownNothing:
		why = what
	case heard == signAsked:
		why = "its firmware asked for a boot, was refused, and goes on to the next boot option"
	case is == protocol.StandsOpen:
		why = "nothing was heard of it yet"
	case is == protocol.StandsBelieved:
		why = fmt.Sprintf("nothing was heard of it for %s, and %s", si.s.Settings.believeAfter(), reason)
	default:
		why = fmt.Sprintf("nothing was heard of it, and its safe-stop class is %s: %s", class, reason)
	}
	if u.Stands == is && u.Why == why {
		return
	}
	if halted(is) && !halted(u.Stands) {
		si.d.plan.Measured.SafeStops = append(si.d.plan.Measured.SafeStops, is)
		si.d.happened(resource.EventSafeStopped, "%s: %s", is, why)
	}
	u.Stands, u.Why, si.d.dirty = is, why, true
}

// came notes a transition without an order. Another source that shows the same one
// later says nothing new.
func (si sightings) came(to protocol.PowerState, by protocol.UnexpectedBy, format string, args ...any) {
	if u := si.d.rec.Unexpected; u != nil && u.To == to && to != protocol.PowerOff && u.By != by && si.d.now.Sub(u.At) < resetQuiet {
		return
	}
	from := si.d.now
	if last := si.d.watch.Last.StartedAt; !last.IsZero() && last.Before(from) {
		from = last
	}
	si.d.rec.Unexpected = &Unexpected{At: si.d.now, To: to, By: by, From: from}
	si.d.dirty = true
	si.d.plan.Measured.Unexpected = append(si.d.plan.Measured.Unexpected, by)
	si.d.happened(resource.EventUnexpected, format, args...)
}

// cycled folds that a server which is taken to be On was off in between, or was reset:
// since is when it was read last before.
func (si sightings) cycled(o protocol.Observation, since time.Time, by protocol.UnexpectedBy) {
	a := si.d.rec.Attempt
	si.d.watch.OffSince, si.d.watch.Proofs = time.Time{}, nil
	if len(si.d.rec.Holds.Receipts) == 0 {
		switch {
		case si.d.work:
			return // it resets servers
		case a != nil && !a.Stage.PowerOn.Pending.IsZero(): // our On, whose effect nobody saw
			si.d.rec.Shown.Epoch++
			si.d.poweredOn(a.Stage.PowerOn.Sent, Booted{OwnerUID: a.Order.OwnerUID, Digest: a.Order.Digest})
			si.attempts().came()
			return
		}
	}
	si.d.rec.Shown.Epoch++
	if since.IsZero() {
		since = si.d.now
	}
	si.d.poweredOn(since, bootedFor(si.s.Intent))
	si.came(o.Power, by, "the server was reset without an order, as its %s shows; it is %s", by, o.Power)
	for _, h := range si.d.holds {
		si.proofs().violated(h, "the server was on since the last read")
	}
}

// asks folds that the server's firmware asked for a boot that no order of ours
// explains. Anybody on the segment can send that, so that it makes nothing of a server
// that is held or read Off: the next read tells.
func (si sightings) asks(at time.Time, by protocol.UnexpectedBy) {
	si.d.watch.Asked = at
	if si.d.rec.Shown.Power != protocol.PowerOn || len(si.d.holds) > 0 || si.d.work || si.d.rec.Orders().Explain(at) {
		return
	}
	if u := si.d.rec.Unexpected; u == nil || u.To == protocol.PowerOff {
		si.d.rec.Shown.Epoch++
		si.d.poweredOn(at, bootedFor(si.s.Intent))
		si.came(protocol.PowerOn, by, "the server was started without an order: its firmware asks for a boot")
		if at.Before(si.d.rec.Unexpected.From) {
			si.d.rec.Unexpected.From = at
		}
	}
}

// signs takes over what was heard of a server since it came on without an order.
func (si sightings) signs(u *Unexpected) {
	for _, s := range []struct {
		have *time.Time
		at   time.Time
	}{{&u.Image, si.d.watch.Image}, {&u.Asked, si.d.watch.Asked}, {&u.Heard, si.d.watch.Heard}} {
		if at := u.since(s.at); s.have.IsZero() && !at.IsZero() {
			*s.have, si.d.dirty = at, true
		}
	}
}
