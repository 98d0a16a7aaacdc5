package decide

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// proof is what says that a held server does not run.
type proof string

const (
	proofNone  proof = "none"
	proofReads proof = "proof"  // a receipt from reads (P3)
	proofWord  proof = "manual" // an operator's word: no proof
)

// receipt is what there is for a hold.
func (p *step) receipt(h Hold) proof { return p.rec.proof(h.ID) }

func (r *Record) proof(id string) proof {
	if _, ok := r.Receipts[id]; ok {
		return proofReads
	}
	if _, ok := r.Manual[id]; ok {
		return proofWord
	}
	return proofNone
}

// sight is what matters of the reads to an operator's word.
type sight string

const (
	sightUnread  sight = "unread"  // nothing was read since the agent started
	sightUnknown sight = "unknown" // the BMC answers without a power state, or has just gone silent
	sightSilent  sight = "silent"  // the BMC has not answered for the settle window
	sightOff     sight = "off"
	sightRuns    sight = "runs"
)

func (p *step) sight() sight {
	switch p.watch.Last.Power {
	case "":
		return sightUnread
	case protocol.PowerUnreachable:
		if s := p.watch.SilentSince; !s.IsZero() && p.now.Sub(s) >= p.snap.Settings.SettleWindow {
			return sightSilent
		}
		return sightUnknown
	case protocol.PowerUnknown:
		return sightUnknown
	case protocol.PowerOff:
		return sightOff
	case protocol.PowerOn, protocol.PowerPoweringOn, protocol.PowerPoweringOff, protocol.PowerPaused:
	}
	if p.rec.Power == protocol.PowerOff {
		return sightUnknown // see notYetOff
	}
	return sightRuns
}

// taken is what becomes of an operator's word.
type taken string

const (
	takenNot  taken = "no"
	takenNow  taken = "yes"
	takenKept taken = "kept"
	takenGone taken = "gone" // a proof is there
	takenVoid taken = "void"
)

// confirmRule says what becomes of an operator's word that a held server is down.
// The first row that fits decides.
//
//	sight  | have   | answer
//	*      | proof  | gone
//	runs   | manual | void
//	*      | manual | kept
//	silent | none   | yes
//	*      | none   | no
//
// While the BMC answers, it is asked and not the operator; one read that failed is
// not yet a BMC that does not answer.
func confirmRule(s sight, have proof) taken {
	switch {
	case have == proofReads:
		return takenGone
	case have == proofWord && s == sightRuns:
		return takenVoid
	case have == proofWord:
		return takenKept
	case s == sightSilent:
		return takenNow
	}
	return takenNot
}

// confirm takes operators' words for holds without a proof.
func (p *step) confirm() {
	for _, h := range p.snap.Holds {
		if h.ConfirmedDown == nil {
			continue
		}
		switch confirmRule(p.sight(), p.receipt(h)) {
		case takenNow:
			if p.rec.Manual == nil {
				p.rec.Manual = map[string]resource.Receipt{}
			}
			p.rec.Manual[h.ID] = resource.Receipt{
				HoldID: h.ID, Server: p.snap.Server, Key: h.Key, Ref: h.Ref, EnforcedAt: h.EnforcedAt,
				PowerEpoch: p.rec.Epoch, ConfirmedAt: p.now, Manual: h.ConfirmedDown,
			}
			p.dirty = true
			p.happened(resource.EventHoldConfirmed, "hold %s: %s says that the server is down: %s", h.ID, h.ConfirmedDown.By, h.ConfirmedDown.Reason)
		case takenNot:
			if s := p.watch.SilentSince; !s.IsZero() {
				p.recheckAt(s.Add(p.snap.Settings.SettleWindow))
			}
		case takenGone:
			p.unconfirm(h)
		case takenVoid, takenKept: // void is said when it is read
		}
	}
}

// unconfirm forgets an operator's word, and reports whether it was taken.
func (p *step) unconfirm(h Hold) bool {
	if _, ok := p.rec.Manual[h.ID]; !ok {
		return false
	}
	delete(p.rec.Manual, h.ID)
	p.dirty = true
	return true
}

// contradict voids the operators' words that a read contradicts.
func (p *step) contradict() {
	for _, h := range p.snap.Holds {
		if h.ConfirmedDown != nil && confirmRule(p.sight(), p.receipt(h)) == takenVoid {
			p.violated(h, "the BMC answers that the server runs, which "+h.ConfirmedDown.By+" said was down")
		}
	}
}

// silent notes since when the BMC does not answer.
func (p *step) silent(o protocol.Observation) {
	switch {
	case o.Power != protocol.PowerUnreachable || p.watch.SilentSince.After(p.now):
		p.watch.SilentSince = time.Time{}
	case p.watch.SilentSince.IsZero():
		p.watch.SilentSince = o.ReadAt
	}
}
