package judge

import (
	"cmp"
	"fmt"
	"slices"

	"rackboot/integration/powerlog"
	"rackboot/protocol"
)

// doubled finds what was done more often than somebody asked for it: each time that a
// machine comes on needs a cause of its own, which came before it.
//
//	cause                                                | power-ons
//	claim that may have been accepted                    | 2: from the network, and from the disk
//	reboot or resume that may have been accepted         | 1, none if its outcome is refused or expired
//	release that may have been accepted                  | 1
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

// cause permits n power-ons from a time on.
type cause struct {
	at Time
	n  int
}

func powerOns(h History, server string, log []powerlog.Entry, v *Verdict) {
	causes := asked(h, server)
	running := false
	for _, e := range log {
		switch e.What {
		case powerlog.Start:
			if running {
				causes = append(causes, cause{e.At, 1})
			}
			running = false
		case powerlog.Button, powerlog.Refused:
			causes = append(causes, cause{e.At, 1})
		case powerlog.On:
			running = true
		case powerlog.Off:
			running = false
		case powerlog.Reset, powerlog.Network, powerlog.Disk, powerlog.Installed:
		}
	}
	slices.SortStableFunc(causes, func(a, b cause) int { return cmp.Compare(a.at, b.at) })
	left := 0
	for _, e := range began(log) {
		for len(causes) > 0 && causes[0].at <= e.At {
			left += causes[0].n
			causes = causes[1:]
		}
		v.tested(NotDoubled, server, e.At, e.At)
		if left == 0 {
			v.broken(NotDoubled, server, e.At, fmt.Sprintf("%s, and nobody asked for one more", e.What))
			continue
		}
		left--
	}
}

// asked are the causes that operators gave.
func asked(h History, server string) (out []cause) {
	for _, o := range h.Ops {
		if o.Server != server || !o.may() {
			continue
		}
		switch o.Kind {
		case OpClaim:
			out = append(out, cause{o.Begun, 2})
		case OpRelease:
			out = append(out, cause{o.Begun, 1})
		case OpReboot, OpResume:
			if r, _ := outcome(h, o); r == nil || r.Outcome != protocol.OutcomeRefused && r.Outcome != protocol.OutcomeExpired {
				out = append(out, cause{o.Begun, 1})
			}
		case OpHold, OpUnclaim, OpVerify:
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
