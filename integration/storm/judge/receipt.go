package judge

import (
	"fmt"

	"rackboot/integration/powerlog"
	"rackboot/protocol/resource"
)

// proof is a hold from the first time that its receipt was seen until somebody began to
// release it.
type proof struct {
	hold     Hold
	from, to Time
}

// proofs lists them. A receipt that the operator was told of counts from then, too.
func proofs(h History) []proof {
	at := map[string]int{}
	var out []proof
	see := func(hold Hold, t Time) {
		if i, ok := at[hold.ID]; ok {
			out[i].from = min(out[i].from, t)
			return
		}
		at[hold.ID] = len(out)
		out = append(out, proof{hold: hold, from: t, to: releasedAt(h, hold.ID)})
	}
	for _, p := range h.Polls {
		for _, hold := range p.Holds {
			if hold.State == resource.StateFenced && !hold.Released {
				see(hold, p.To)
			}
		}
	}
	for _, o := range h.Ops {
		if o.Kind == OpHold && o.Fenced && o.Target != "" {
			see(Hold{ID: o.Target, Server: o.Server}, o.Ended)
		}
	}
	return out
}

// releasedAt is when somebody first asked for the hold's release, or the history's end. A
// release that was refused is none.
func releasedAt(h History, id string) Time {
	end := h.End
	for _, o := range h.Ops {
		if o.Kind == OpRelease && o.Target == id && o.may() {
			end = min(end, o.Begun)
		}
	}
	return end
}

// receipts finds power-ons under a receipt:
//
//	the machine's log, between a receipt and its release | verdict
//	On or Reset                                           | broken
//	On after a press of the power button                  | a person's: what follows from it is for the words
//	Start, Off, Refused                                   | nothing: it does not run
func receipts(h History, v *Verdict) {
	for _, p := range proofs(h) {
		if p.from >= p.to {
			continue
		}
		v.tested(NoOn, p.hold.Server, p.from, p.to)
		button := false
		for _, e := range h.Machines[p.hold.Server] {
			switch e.What {
			case powerlog.Button:
				button = true
				continue
			case powerlog.Off, powerlog.Start:
				button = false
			case powerlog.On, powerlog.Reset:
				if p.from <= e.At && e.At < p.to && !button {
					v.broken(NoOn, p.hold.Server, e.At, fmt.Sprintf("%s %s after the receipt of hold %s was seen", e.What, e.At.Sub(p.from), p.hold.ID))
				}
			case powerlog.Network, powerlog.Disk, powerlog.Refused, powerlog.Installed:
			}
		}
	}
}
