package judge

import (
	"fmt"
	"slices"

	"rackboot/protocol/resource"
)

// lost finds accepted operations of which nothing is left:
//
//	accepted          | must be so
//	hold              | each poll has it, not released, until somebody asks for its release; at rest it is Fenced
//	release           | each poll says that it is released, or does not have it
//	reboot, resume    | at rest it has ended
//	deletion of one   | at rest it is gone, unless somebody made it again
//	claim             | each poll has it until somebody deletes it; at rest its server runs, unless it is held
//
// At rest is the last poll of a history that was given the time.
func lost(h History, v *Verdict) {
	for _, o := range h.Ops {
		if o.Result != Accepted {
			continue
		}
		v.tested(NotLost, o.Server, o.Begun, o.Ended)
		switch o.Kind {
		case OpHold:
			lostHold(h, o, v)
		case OpRelease:
			lostRelease(h, o, v)
		case OpReboot, OpResume:
			lostRequest(h, o, v)
		case OpClaim:
			lostClaim(h, o, v)
		case OpUnclaim:
			lostUnclaim(h, o, v)
		case OpVerify, OpRollout, OpAdopt, OpUpload, OpExport:
		}
	}
	lostServers(h, v)
}

func lostHold(h History, o Op, v *Verdict) {
	until := releasedAt(h, o.Target)
	for _, p := range h.Polls {
		if p.From < o.Ended || p.To > until {
			continue
		}
		v.tested(NotLost, o.Server, p.From, p.To)
		i := slices.IndexFunc(p.Holds, func(x Hold) bool { return x.ID == o.Target })
		if i < 0 || p.Holds[i].Released {
			v.broken(NotLost, o.Server, p.To, fmt.Sprintf("hold %s is gone, and nobody has released it", o.Target))
			return
		}
	}
	if last := h.last(); last != nil && until == h.End {
		for _, x := range last.Holds {
			if x.ID == o.Target && x.State != resource.StateFenced && !x.Released {
				v.broken(NotLost, o.Server, last.To, fmt.Sprintf("hold %s is %s at the end", o.Target, x.State))
			}
		}
	}
}

func lostRelease(h History, o Op, v *Verdict) {
	for _, p := range h.Polls {
		if p.From < o.Ended {
			continue
		}
		v.tested(NotLost, o.Server, p.From, p.To)
		for _, x := range p.Holds {
			if x.ID == o.Target && !x.Released {
				v.broken(NotLost, o.Server, p.To, fmt.Sprintf("hold %s is %s, and was released", o.Target, x.State))
				return
			}
		}
	}
}

func lostRequest(h History, o Op, v *Verdict) {
	r, at := outcome(h, o)
	if h.last() != nil && (r == nil || r.Outcome == resource.OutcomePending) {
		v.broken(NotLost, o.Server, max(at, o.Ended), fmt.Sprintf("%s %s has not ended", o.Kind, o.Target))
	}
}

// outcome is what was last read of a request, and when that was first so.
func outcome(h History, o Op) (last *Request, first Time) {
	for i := range h.Polls {
		for j := range h.Polls[i].Requests {
			r := &h.Polls[i].Requests[j]
			if r.ID != o.Target || o.Target == "" {
				continue
			}
			if last == nil || last.Outcome != r.Outcome {
				first = h.Polls[i].To
			}
			last = r
		}
	}
	return last, first
}

func lostClaim(h History, o Op, v *Verdict) {
	until := h.End + 1
	for _, x := range h.Ops {
		if x.Kind == OpUnclaim && x.Target == o.Target && x.Begun >= o.Ended && x.may() {
			until = min(until, x.Begun)
		}
	}
	for _, p := range h.Polls {
		if p.From >= o.Ended && p.To <= until && !slices.Contains(p.Claims, o.Target) {
			v.broken(NotLost, o.Server, p.To, fmt.Sprintf("claim %s is gone, and nobody has deleted it", o.Target))
			return
		}
	}
}

func lostUnclaim(h History, o Op, v *Verdict) {
	again := slices.ContainsFunc(h.Ops, func(x Op) bool { return x.Kind == OpClaim && x.Target == o.Target && x.Begun >= o.Begun && x.may() })
	if last := h.last(); last != nil && !again && slices.Contains(last.Claims, o.Target) {
		v.broken(NotLost, o.Server, last.To, fmt.Sprintf("claim %s is there, and was deleted", o.Target))
	}
}

// lostServers finds servers that were to run at the end, and do not. One that ran less than
// Notice before is being rebooted: roll-outs go on by themselves.
func lostServers(h History, v *Verdict) {
	last := h.last()
	if last == nil {
		return
	}
	for _, server := range h.Claimed {
		held := slices.ContainsFunc(last.Holds, func(x Hold) bool { return x.Server == server && !x.Released })
		runs := on(h.Machines[server], h.End+1)
		ran := slices.ContainsFunc(runs, func(s stretch) bool { return s.to.Add(Notice) > h.End })
		if !held && !ran {
			v.broken(NotLost, server, h.End, "its claim wants it On, nothing holds it, and it is off")
		}
	}
}

// last is the poll that is judged at rest; nil in a history that did not come to rest.
func (h History) last() *Poll {
	if !h.Quiet || len(h.Polls) == 0 {
		return nil
	}
	return &h.Polls[len(h.Polls)-1]
}
