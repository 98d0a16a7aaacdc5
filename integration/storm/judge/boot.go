package judge

import (
	"fmt"
	"slices"

	"rackboot/integration/powerlog"
)

// boots counts network boots: between two claims of a server its firmware loads at most one
// boot file for each grant that the hub has given meanwhile. A grant that repeats is one for
// each time that the machine came on. An operator who has a first boot tried anew renews the
// grant, for one boot after that.
func boots(h History, v *Verdict) {
	for server, log := range h.Machines {
		periods := claimed(h, server)
		for _, e := range log {
			switch e.What {
			case powerlog.On, powerlog.Reset, powerlog.Network:
				v.tested(OneBoot, server, e.At, e.At)
			case powerlog.Start, powerlog.Off, powerlog.Button, powerlog.Disk, powerlog.Refused, powerlog.Installed:
			}
		}
		for _, p := range periods {
			p.judge(server, log, v)
		}
	}
}

// period is the time in which a server's network boots are of one claim. The first is from
// the beginning, without a claim.
type period struct {
	from, to Time
	grants   int
	repeat   bool
	renewed  []Time // when an operator had the first boot tried anew
}

// claimed cuts a server's time at each claim for it that may have been accepted, unless it may be claimed already: what is
// claimed again without an answer is one claim. Grants are of the period in which they are first seen: nothing gives one
// before the claim.
func claimed(h History, server string) []period {
	out, is := []period{{to: h.End + 1}}, false
	for _, o := range h.Ops {
		if o.Kind == OpUnclaim && o.Server == server && o.may() {
			is = false
		}
		if o.Kind == OpClaim && o.Server == server && o.may() && !is {
			is = true
			out[len(out)-1].to = o.Begun
			out = append(out, period{from: o.Begun, to: h.End + 1})
		}
		if o.Kind == OpResume && o.Retry && o.Server == server && o.may() {
			p := &out[len(out)-1]
			p.renewed = append(p.renewed, o.Begun)
		}
	}
	type key struct {
		uid string
		gen uint64
	}
	seen := map[key]bool{}
	for _, p := range h.Polls {
		for _, g := range p.Grants {
			if k := (key{g.OwnerUID, g.Generation}); g.Server == server && !seen[k] {
				seen[k] = true
				i := slices.IndexFunc(out, func(q period) bool { return q.from <= p.To && p.To < q.to })
				if i < 0 {
					i = len(out) - 1
				}
				out[i].grants++
				out[i].repeat = out[i].repeat || g.Repeat
			}
		}
	}
	return out
}

func (p period) judge(server string, log []powerlog.Entry, v *Verdict) {
	left, renewed, sinceOn := p.grants, p.renewed, false
	for _, e := range log {
		if e.At < p.from || e.At >= p.to {
			continue
		}
		switch e.What {
		case powerlog.On, powerlog.Reset:
			sinceOn = true
		case powerlog.Network:
			switch {
			case p.repeat && sinceOn:
			case left > 0 && !p.repeat:
				left--
			case len(renewed) > 0 && renewed[0] <= e.At && !p.repeat:
				renewed = renewed[1:]
			default:
				v.broken(OneBoot, server, e.At, fmt.Sprintf("a network boot too many: %d grants, %s", p.grants, e.Detail))
			}
			sinceOn = false
		case powerlog.Start, powerlog.Off, powerlog.Button, powerlog.Disk, powerlog.Refused, powerlog.Installed:
		}
	}
}
