package decide

import (
	"maps"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// releaseProof is the key of the proof that ends a claim.
const releaseProof = ""

// minReads is how many reads of Off a proof needs at least.
const minReads = 2

// prove counts a read of exactly Off toward every open proof. A read counts only
// if it was begun after the hold was on disk: an answer to an earlier question
// says nothing about the time since. And not while an On that was sent may still
// take effect: BMCs show Off for a while after they accepted one.
func (p *step) prove(o protocol.Observation) {
	proofs := map[string]Proof{}
	quiet := p.quietAt()
	count := func(key string, after time.Time) {
		pr := p.watch.Proofs[key]
		if o.StartedAt.After(after) && !o.StartedAt.Before(quiet) {
			if pr.Reads == 0 {
				pr.First = o.ReadAt // as StoppedSince: the window lies between answers
			}
			pr.Last = o.ReadAt
			pr.Reads++
		}
		proofs[key] = pr
	}
	for _, h := range p.snap.Holds {
		count(h.ID, h.EnforcedAt)
	}
	if in := p.snap.Intent; in != nil && in.Releasing {
		count(releaseProof, time.Time{})
	}
	p.watch.Proofs = proofs
}

// onLatency is how long a BMC that accepted On may show Off before the server
// comes up. It is sent again sooner, since most that show no effect were dropped (see
// onResend); but nothing is proved, and nothing new begun, while one may still come.
const onLatency = 3 * onResend

// quietAt is when no On of ours can take effect any more; zero if none can.
func (p *step) quietAt() time.Time {
	a := p.rec.Attempt
	if a == nil || a.OnPending.IsZero() {
		return time.Time{}
	}
	return a.OnPending.Add(onLatency)
}

// awaitQuiet reads again once no On of ours can take effect any more, and reports
// whether one still can. Nothing new is begun meanwhile: with the attempt that sent
// the On it would be forgotten that it was sent.
func (p *step) awaitQuiet() bool {
	q := p.quietAt()
	if !q.After(p.now) {
		return false
	}
	p.recheckAt(q)
	return true
}

// awaitProof reads again when the next read can count, and before that where an On of
// ours may still take effect: what comes up is to be stopped at once.
func (p *step) awaitProof(pr Proof) {
	switch {
	case pr.Reads > 0:
		p.recheckSettle(pr, p.snap.Settings.SettleWindow)
	case p.awaitQuiet():
		p.recheck(activeInterval)
	}
}

// proven says whether a proof spans the settle window.
func (pr Proof) proven(settle time.Duration) bool {
	return pr.Reads >= minReads && pr.Last.Sub(pr.First) >= settle
}

// fence issues a receipt for each hold whose proof is complete (P3). It is the
// only place where a receipt is made.
func (p *step) fence() {
	settle := p.snap.Settings.SettleWindow
	for _, h := range p.snap.Holds {
		if _, have := p.rec.Receipts[h.ID]; have {
			continue
		}
		pr := p.watch.Proofs[h.ID]
		if !pr.proven(settle) {
			p.awaitProof(pr)
			continue
		}
		if p.rec.Receipts == nil {
			p.rec.Receipts = map[string]resource.Receipt{}
		}
		p.rec.Receipts[h.ID] = resource.Receipt{
			HoldID: h.ID, Server: p.snap.Server, Key: h.Key, Ref: h.Ref, EnforcedAt: h.EnforcedAt,
			PowerEpoch: p.rec.Epoch, StoppedSince: p.watch.OffSince, ConfirmedAt: pr.Last,
			Reads: pr.Reads, Settle: settle, RestorePolicy: p.guarded(),
		}
		p.unconfirm(h)
		p.plan.Measured.Fenced = append(p.plan.Measured.Fenced, max(0, pr.Last.Sub(h.EnforcedAt)))
		p.dirty = true
		p.happened(resource.EventFenced, "hold %s: Off since %s", h.ID, p.watch.OffSince.UTC().Format(time.RFC3339Nano))
	}
}

// guarded is the restore policy that a receipt vouches for.
func (p *step) guarded() protocol.RestorePolicy {
	if g := p.rec.Guard; g != nil && g.State == GuardSet {
		return protocol.RestoreAlwaysOff
	}
	return ""
}

// released notes that a releasing claim's server was proved Off.
func (p *step) released() {
	in := p.snap.Intent
	pr := p.watch.Proofs[releaseProof]
	if p.rec.Released == in.Owner.UID || p.rec.Attempt != nil && p.rec.Attempt.Disarm || p.rec.Rearm != nil ||
		p.rec.Medium != nil && p.watch.Eject.Tries < ejectTries || p.rec.URL != nil && !p.urlStays() {
		return // an override that nothing consumed must not outlive the claim, nor a medium or a URL
	}
	if !pr.proven(p.snap.Settings.SettleWindow) {
		p.awaitProof(pr)
		return
	}
	p.forget()
	p.happened(resource.EventReleased, "Off since %s", p.watch.OffSince.UTC().Format(time.RFC3339Nano))
}

// recheckSettle reads again when the window ends, and in its middle, so that a
// short On in between is seen.
func (p *step) recheckSettle(pr Proof, settle time.Duration) {
	end := pr.First.Add(settle)
	half := p.now.Add(max(settle/2, time.Millisecond))
	if half.Before(end) {
		p.recheckAt(half)
		return
	}
	p.recheckAt(end)
}

// forgetHolds drops what belongs to holds that no longer lie.
func (p *step) forgetHolds() {
	live := map[string]bool{}
	for _, h := range p.snap.Holds {
		live[h.ID] = true
	}
	gone := func(id string) bool { return !live[id] }
	count := func() int {
		return len(p.rec.Receipts) + len(p.rec.Manual) + len(p.rec.Violated) + len(p.rec.Terms)
	}
	n := count()
	maps.DeleteFunc(p.rec.Receipts, func(id string, _ resource.Receipt) bool { return gone(id) })
	maps.DeleteFunc(p.rec.Manual, func(id string, _ resource.Receipt) bool { return gone(id) })
	maps.DeleteFunc(p.rec.Violated, func(id string, _ time.Time) bool { return gone(id) })
	maps.DeleteFunc(p.rec.Terms, func(id string, _ Term) bool { return gone(id) })
	if n != count() {
		p.dirty = true
	}
}
