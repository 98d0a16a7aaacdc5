package decide

import (
	"time"

	"rackboot/protocol"
)

// offTruth is what was read of Off since the agent started, in true time.
type offTruth struct {
	first  time.Time // the first read, whatever it said, by the agent's clock
	any    bool
	last   ReadSpan
	before ReadSpan // the one before the last
	two    bool
}

func (x *offTruth) read(o protocol.Observation, span ReadSpan) {
	if x.first.IsZero() {
		x.first = o.ReadAt
	}
	if o.Power == protocol.PowerOff {
		x.before, x.two = x.last, x.any
		x.last, x.any = span, true
	}
}

// watched checks that each receipt is of this run of the agent, and that no gap that it does not
// bear lies in what it says, whatever the clock does.
func (x *witness) watched(s Snapshot, p Plan) {
	for id, r := range p.Record.Holds.Receipts {
		switch {
		case r.Run != s.Run:
			x.t.Fatalf("P3: receipt %s of run %s in run %s", id, r.Run, s.Run)
		case !x.any(r.GapBound) || r.LongestGap > r.GapBound:
			x.t.Fatalf("P3: receipt %s bears a gap of %s and has one of %s", id, r.GapBound, r.LongestGap)
		case s.Uptime-x.off.last.Sent > r.GapBound:
			x.t.Fatalf("P3: receipt %s bears a gap of %s, and the last read of Off is %s old", id, r.GapBound, s.Uptime-x.off.last.Sent)
		case !x.stepped && r.StoppedSince.Before(x.off.first):
			x.t.Fatalf("P3: receipt %s says Off since %s, and the agent reads since %s", id, r.StoppedSince, x.off.first)
		}
		was, had := s.Record.Holds.Receipts[id]
		if had && was.StoppedSince.Equal(r.StoppedSince) && x.off.two && x.off.last.Answered-x.off.before.Sent > r.GapBound {
			x.t.Fatalf("P3: receipt %s stands over a gap of %s", id, x.off.last.Answered-x.off.before.Sent)
		}
	}
}

func (x *witness) any(bound time.Duration) bool { return x.off.any && bound > 0 }
