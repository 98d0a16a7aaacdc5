package judge

import (
	"cmp"
	"fmt"
	"slices"

	"rackboot/integration/powerlog"
	"rackboot/protocol/resource"
)

// doubled finds what was done more often than somebody asked for it: each time that a
// machine comes on needs a cause of its own, which came before it.
//
//	cause                                                | power-ons
//	claim that may have been accepted                    | 2: from the network, and from the disk
//	reboot or resume that may have been accepted         | 1 until its outcome was read, none if that is refused or expired
//	one whose outcome is unknown                         | 1: it may be done yet
//	release that may have been accepted                  | 1
//	new image of a group that may have been accepted     | 1 at each server
//	press of the power button                            | 1
//	start of the machine's process that was on before    | 1: what was begun is begun anew
//	boot that came to nothing                            | 1: it is tried again
//
// And one key makes one hold, one ref one request.
func doubled(h History, v *Verdict) {
	for server, log := range h.Machines {
		powerOns(h, server, log, v)
	}
	onceEach(h, v)
}

// cause permits a power-on between two times. A one-shot that has ended permits no more.
type cause struct{ at, until Time }

func powerOns(h History, server string, log []powerlog.Entry, v *Verdict) {
	causes := asked(h, server)
	always := h.End + 1
	running := false
	for _, e := range log {
		switch e.What {
		case powerlog.Start:
			if running {
				causes = append(causes, cause{e.At, always})
			}
			running = false
		case powerlog.Button, powerlog.Refused:
			causes = append(causes, cause{e.At, always})
		case powerlog.On:
			running = true
		case powerlog.Off:
			running = false
		case powerlog.Reset, powerlog.Network, powerlog.Disk, powerlog.Installed:
		}
	}
	// Of those that permit it, the one that ends first is used up.
	slices.SortStableFunc(causes, func(a, b cause) int { return cmp.Compare(a.until, b.until) })
	for _, e := range began(log) {
		v.tested(NotDoubled, server, e.At, e.At)
		i := slices.IndexFunc(causes, func(c cause) bool { return c.at <= e.At && e.At <= c.until })
		if i < 0 {
			v.broken(NotDoubled, server, e.At, fmt.Sprintf("%s, and nobody asked for one more", e.What))
			continue
		}
		causes = slices.Delete(causes, i, i+1)
	}
}

// asked are the causes that operators gave.
func asked(h History, server string) (out []cause) {
	for _, o := range h.Ops {
		if !o.about(server) || !o.may() {
			continue
		}
		switch o.Kind {
		case OpClaim:
			out = append(out, cause{o.Begun, h.End + 1}, cause{o.Begun, h.End + 1})
		case OpRelease, OpRollout:
			out = append(out, cause{o.Begun, h.End + 1})
		case OpReboot, OpResume:
			r, at := outcome(h, o)
			switch {
			case r == nil || r.Outcome == resource.OutcomePending || r.Outcome == resource.OutcomeUnknown:
				out = append(out, cause{o.Begun, h.End + 1})
			case r.Outcome != resource.OutcomeRefused && r.Outcome != resource.OutcomeExpired:
				out = append(out, cause{o.Begun, at})
			}
		case OpHold, OpUnclaim, OpAdopt, OpVerify, OpUpload, OpExport:
		}
	}
	return out
}

// onceEach finds two holds of one key, and two requests of one ref.
func onceEach(h History, v *Verdict) {
	first := map[string]string{}
	told := map[string]bool{}
	see := func(what, ref, id, server string, at Time) {
		if ref == "" {
			return
		}
		k := what + " " + ref
		if had, ok := first[k]; !ok {
			first[k] = id
		} else if had != id && !told[k] {
			told[k] = true
			v.broken(NotDoubled, server, at, fmt.Sprintf("%s %s is there twice, as %s and %s", what, ref, had, id))
		}
	}
	for _, p := range h.Polls {
		for _, x := range p.Holds {
			see("hold", x.Key, x.ID, x.Server, p.To)
		}
		for _, r := range p.Requests {
			see("request", r.Ref, r.ID, r.Server, p.To)
		}
	}
}
