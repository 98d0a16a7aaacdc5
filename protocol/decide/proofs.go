package decide

import (
	"maps"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// proofs says what is known of held servers: receipts from reads, and operators' words.
type proofs struct {
	d *draft
	s *Snapshot
}

// settle is how long a server must read Off.
func (pf proofs) settle() time.Duration { return pf.s.Settings.SettleWindow }

// confirm takes operators' words for holds without a proof.
func (pf proofs) confirm() {
	for _, h := range pf.d.holds {
		if h.ConfirmedDown == nil {
			continue
		}
		switch confirmRule(sightOf(&pf.d.rec, &pf.d.watch, pf.d.now, pf.settle()), pf.d.rec.proof(h.ID)) {
		case takenNow:
			if pf.d.rec.Holds.Manual == nil {
				pf.d.rec.Holds.Manual = map[string]resource.Receipt{}
			}
			pf.d.rec.Holds.Manual[h.ID] = resource.Receipt{
				HoldID: h.ID, Server: pf.d.server, Key: h.Key, Ref: h.Ref, EnforcedAt: h.EnforcedAt,
				PowerEpoch: pf.d.rec.Shown.Epoch, ConfirmedAt: pf.d.now, Manual: h.ConfirmedDown,
			}
			pf.d.dirty = true
			pf.d.happened(resource.EventHoldConfirmed, "hold %s: %s says that the server is down: %s", h.ID, h.ConfirmedDown.By, h.ConfirmedDown.Reason)
		case takenNot:
			if s := pf.d.watch.SilentSince; !s.IsZero() {
				pf.d.recheckAt(s.Add(pf.settle()))
			}
		case takenGone:
			pf.unconfirm(h)
		case takenVoid, takenKept: // void is said when it is read
		}
	}
}

// unconfirm forgets an operator's word, and reports whether it was taken.
func (pf proofs) unconfirm(h Hold) bool {
	if _, ok := pf.d.rec.Holds.Manual[h.ID]; !ok {
		return false
	}
	delete(pf.d.rec.Holds.Manual, h.ID)
	pf.d.dirty = true
	return true
}

// contradict voids the operators' words that a read contradicts.
func (pf proofs) contradict() {
	for _, h := range pf.d.holds {
		if h.ConfirmedDown != nil && confirmRule(sightOf(&pf.d.rec, &pf.d.watch, pf.d.now, pf.settle()), pf.d.rec.proof(h.ID)) == takenVoid {
			pf.violated(h, "the BMC answers that the server runs, which "+h.ConfirmedDown.By+" said was down")
		}
	}
}

// silent notes since when the BMC does not answer.
func (pf proofs) silent(o protocol.Observation) {
	switch {
	case o.Power != protocol.PowerUnreachable || pf.d.watch.SilentSince.After(pf.d.now):
		pf.d.watch.SilentSince = time.Time{}
	case pf.d.watch.SilentSince.IsZero():
		pf.d.watch.SilentSince = o.ReadAt
	}
}

// prove counts a read of exactly Off toward every open proof. A read counts only
// if it was begun after the hold was on disk: an answer to an earlier question
// says nothing about the time since. And not while an On that was sent may still
// take effect: BMCs show Off for a while after they accepted one.
func (pf proofs) prove(o protocol.Observation) {
	proofs := map[string]Proof{}
	quiet, gap := pf.d.quietAt(), pf.d.watch.Off.unread(pf.s.Read.Answered)
	pf.d.watch.Off = pf.d.watch.Off.next(pf.s.Read)
	count := func(key string, after time.Time) {
		pr := pf.d.watch.Proofs[key]
		if o.StartedAt.After(after) && pf.s.Read.Sent >= quiet {
			if pr.Reads == 0 {
				pr.First = o.ReadAt // as StoppedSince: the window lies between answers
			} else {
				pr.Longest = max(pr.Longest, gap)
			}
			pr.Last = o.ReadAt
			pr.Reads++
		}
		proofs[key] = pr
	}
	for _, h := range pf.d.holds {
		count(h.ID, h.EnforcedAt)
	}
	if pf.s.Intent != nil && pf.s.Intent.Releasing {
		count(releaseProof, time.Time{})
	}
	pf.d.watch.Proofs = proofs
}

// awaitProof reads again when the next read can count, and before that where an On of
// ours may still take effect: what comes up is to be stopped at once.
func (pf proofs) awaitProof(pr Proof) {
	switch {
	case pr.Reads > 0:
		pf.recheckSettle(pr, pf.settle())
	case pf.d.awaitQuiet():
		pf.d.recheck(activeInterval)
	}
}

// fence issues a receipt for each hold whose proof is complete (P3). It is the
// only place where a receipt is made.
func (pf proofs) fence() {
	settle := pf.settle()
	for _, h := range pf.d.holds {
		if _, have := pf.d.rec.Holds.Receipts[h.ID]; have {
			continue
		}
		pr := pf.d.watch.Proofs[h.ID]
		if !pr.proven(settle) {
			pf.awaitProof(pr)
			continue
		}
		if pf.d.rec.Holds.Receipts == nil {
			pf.d.rec.Holds.Receipts = map[string]resource.Receipt{}
		}
		waited := time.Duration(0)
		if a := pf.d.rec.Attempt; a != nil {
			waited = a.Stage.PowerOn.Waited
		}
		pf.d.rec.Holds.Receipts[h.ID] = resource.Receipt{
			HoldID: h.ID, Server: pf.d.server, Key: h.Key, Ref: h.Ref, EnforcedAt: h.EnforcedAt,
			PowerEpoch: pf.d.rec.Shown.Epoch, StoppedSince: pf.d.watch.OffSince, FirstRead: pr.First, ConfirmedAt: pr.Last,
			Reads: pr.Reads, Settle: settle, Run: pf.s.Run, LongestGap: pr.Longest,
			GapBound: gapBound(pf.s.Settings, pf.d.watch.Off.Quickest), OnWaited: waited, RestorePolicy: pf.d.rec.guarded(),
		}
		pf.unconfirm(h)
		if !pf.d.watch.Again[h.ID] {
			pf.d.plan.Measured.Fenced = append(pf.d.plan.Measured.Fenced, max(0, pr.Last.Sub(h.EnforcedAt)))
		}
		pf.d.dirty = true
		pf.d.happened(resource.EventFenced, "hold %s: Off since %s", h.ID, pf.d.watch.OffSince.UTC().Format(time.RFC3339Nano))
	}
}

// recheckSettle reads again when the window ends, and in its middle, so that a
// short On in between is seen.
func (pf proofs) recheckSettle(pr Proof, settle time.Duration) {
	end := pr.First.Add(settle)
	half := pf.d.now.Add(max(settle/2, time.Millisecond))
	if half.Before(end) {
		pf.d.recheckAt(half)
		return
	}
	pf.d.recheckAt(end)
}

// forget drops what belongs to holds that no longer lie.
func (pf proofs) forget() {
	live := map[string]bool{}
	for _, h := range pf.d.holds {
		live[h.ID] = true
	}
	gone := func(id string) bool { return !live[id] }
	count := func() int {
		return len(pf.d.rec.Holds.Receipts) + len(pf.d.rec.Holds.Manual) + len(pf.d.rec.Holds.Violated) + len(pf.d.rec.Holds.Terms)
	}
	n := count()
	maps.DeleteFunc(pf.d.rec.Holds.Receipts, func(id string, _ resource.Receipt) bool { return gone(id) })
	maps.DeleteFunc(pf.d.rec.Holds.Manual, func(id string, _ resource.Receipt) bool { return gone(id) })
	maps.DeleteFunc(pf.d.rec.Holds.Violated, func(id string, _ time.Time) bool { return gone(id) })
	maps.DeleteFunc(pf.d.rec.Holds.Terms, func(id string, _ Term) bool { return gone(id) })
	if n != count() {
		pf.d.dirty = true
	}
}

// violated notes that a held server ran.
func (pf proofs) violated(h Hold, what string) {
	if pf.d.rec.Holds.Violated == nil {
		pf.d.rec.Holds.Violated = map[string]time.Time{}
	}
	pf.d.rec.Holds.Violated[h.ID] = pf.d.now
	delete(pf.d.rec.Holds.Receipts, h.ID)
	pf.unconfirm(h)
	pf.d.plan.Measured.Violations++
	pf.d.happened(resource.EventHoldViolated, "hold %s: %s; a receipt is void", h.ID, what)
}

// vouch puts the guard into the receipts that there are; empty takes it out.
func (pf proofs) vouch(is protocol.RestorePolicy) {
	for id, r := range pf.d.rec.Holds.Receipts {
		r.RestorePolicy = is
		pf.d.rec.Holds.Receipts[id] = r
	}
}
