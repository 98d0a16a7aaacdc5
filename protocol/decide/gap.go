package decide

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"rackboot/protocol/resource"
)

// gapPolls is how many polls a server that is proved off may go without a read of Off, gapLeast
// what a busy host may always miss, and longestRead bounds what one read counts for.
const (
	gapPolls    = 3
	gapLeast    = 3 * time.Second
	longestRead = 15 * time.Second
)

// gapBound is the longest gap between two reads of Off that a proof may have. A poll is never
// farther from the next than its interval, a fifth, and what the BMC takes to answer twice;
// one read may fail. A rack that is polled many times a second gets gapLeast all the same. A BMC
// that is slow is always slow: the quickest of its reads counts, so that an agent which stood
// still during one read has no more time for it.
//
// A server that is switched on and off again within the bound, between two reads, is not seen
// by reads. Where the BMC has a LastResetTime or a log of its power, those tell.
func gapBound(s Settings, quickest time.Duration) time.Duration {
	poll := s.Poll
	if poll == 0 {
		poll = s.PollInterval
	}
	return max(gapPolls*(poll+min(max(quickest, 0), longestRead)), gapLeast)
}

// lapse voids the receipts that count no more at a moment, and lets proofs begin anew where
// the server was not read for too long. quickest is the quickest of the reads of Off by then.
// What was seen to run is void before.
func (pf proofs) lapse(at, quickest time.Duration) {
	unread, bound := pf.d.watch.Off.unread(at), gapBound(pf.s.Settings, quickest)
	for _, id := range slices.Sorted(maps.Keys(pf.d.rec.Holds.Receipts)) {
		why := ""
		v := voidRule(pf.d.rec.Holds.Receipts[id].Run == pf.s.Run, unread <= bound)
		switch v {
		case voidNo, voidGuard: // the second is not found here
			continue
		case voidRun:
			why = "the agent has started again since"
		case voidGap:
			why = fmt.Sprintf("the server was not read Off for %s, and %s is the most", unread.Round(time.Millisecond), bound.Round(time.Millisecond))
		}
		pf.void(id, v, why)
	}
	if unread > bound {
		pf.parted()
	}
}

// parted begins the run of reads of Off anew.
func (pf proofs) parted() {
	pf.d.watch.Off, pf.d.watch.OffSince, pf.d.watch.Proofs = OffReads{}, time.Time{}, nil
}

// unanswered takes a read that gave no power state. It is none: what is being proved begins anew,
// and the gap of what was proved goes on.
func (pf proofs) unanswered() {
	kept := map[string]Proof{}
	for id := range pf.d.rec.Holds.Receipts {
		if pr, ok := pf.d.watch.Proofs[id]; ok {
			kept[id] = pr
		}
	}
	pf.d.watch.OffSince, pf.d.watch.Proofs = time.Time{}, kept
}

// void takes a receipt back although nothing was seen to run.
func (pf proofs) void(id string, v Voiding, why string) {
	delete(pf.d.rec.Holds.Receipts, id)
	if pf.d.watch.Again = maps.Clone(pf.d.watch.Again); pf.d.watch.Again == nil {
		pf.d.watch.Again = map[string]bool{}
	}
	pf.d.watch.Again[id] = true
	pf.d.dirty = true
	pf.d.plan.Measured.Voided = append(pf.d.plan.Measured.Voided, v)
	pf.d.happened(resource.EventReceiptVoid, "hold %s: the receipt is void, and it is proved anew: %s", id, why)
}

// InRun is a record as a run of the agent has it that has not decided anything yet: without the
// receipts of other runs.
func InRun(r Record, run string) Record {
	r.Holds.Receipts = maps.Clone(r.Holds.Receipts)
	maps.DeleteFunc(r.Holds.Receipts, func(_ string, rc resource.Receipt) bool { return voidRule(rc.Run == run, true) != voidNo })
	return r
}
