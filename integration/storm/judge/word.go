package judge

import (
	"fmt"
	"slices"
	"time"

	"rackboot/integration/powerlog"
	"rackboot/protocol/resource"
)

// Notice is how long a server that somebody else has powered on may be called proved off:
// the poll of its BMC, the report, and room for a busy machine.
const Notice = 8 * time.Second

// rounding is how much a time in a receipt may be off.
const rounding = 100 * time.Millisecond

// words finds what was said of a server and was not so:
//
//	said                                          | must be so
//	Fenced, in a poll                             | the machine did not run for all of Notice before it
//	Fenced, with a receipt that says since when | the machine had no power since, but for Notice before the poll
//	Fenced, to an operator who waited             | the machine was off
//	done, of a reboot or resume                   | a boot began after the operator asked
//	provisioned, with a boot policy of the disk   | the machine's log has the installation
func words(h History, v *Verdict) {
	runs := map[string][]stretch{}
	for server, log := range h.Machines {
		runs[server] = on(log, h.End+1)
	}
	told := map[string]bool{}
	once := func(key, server string, at Time, why string) {
		if !told[key] {
			told[key] = true
			v.broken(TrueWords, server, at, why)
		}
	}
	for _, p := range h.Polls {
		for _, x := range p.Holds {
			if x.State != resource.StateFenced || x.Released {
				continue
			}
			v.tested(TrueWords, x.Server, p.From, p.To)
			if s := onAt(runs[x.Server], p.From); s != nil && p.From.Sub(s.from) > Notice && s.to > p.To {
				once("fenced "+x.ID, x.Server, s.from, fmt.Sprintf("hold %s says Fenced, and the server runs since %s", x.ID, p.From.Sub(s.from)))
			}
		}
		for _, x := range p.Holds {
			if x.State != resource.StateFenced || x.Released || x.StoppedSince <= 0 {
				continue
			}
			for _, s := range runs[x.Server] {
				// A receipt is rounded, and its clock is another process's.
				if s.from > x.StoppedSince.Add(rounding) && s.from.Add(Notice) < p.From {
					once(fmt.Sprintf("since %s %d", x.ID, s.from), x.Server, s.from, fmt.Sprintf("the receipt of hold %s says that the server is stopped since a time %s before it ran", x.ID, s.from.Sub(x.StoppedSince)))
				}
			}
		}
		for _, g := range p.Grants {
			if g.Provisioned && !g.Repeat && !slices.ContainsFunc(h.Machines[g.Server], func(e powerlog.Entry) bool { return e.What == powerlog.Installed && e.At <= p.To }) {
				once("provisioned "+g.OwnerUID, g.Server, p.To, "it is said to be provisioned, and nothing was installed")
			}
		}
	}
	for _, o := range h.Ops {
		switch {
		case o.Kind == OpHold && o.Fenced:
			v.tested(TrueWords, o.Server, o.Begun, o.Ended)
			if s := onAt(runs[o.Server], o.Ended); s != nil && !s.button {
				once("waited "+o.Target, o.Server, o.Ended, fmt.Sprintf("hold %s was said to be Fenced, and the server runs", o.Target))
			}
		case o.Kind == OpReboot || o.Kind == OpResume:
			r, at := outcome(h, o)
			if r == nil || r.Outcome != resource.OutcomeDone {
				continue
			}
			v.tested(TrueWords, o.Server, o.Begun, at)
			if !slices.ContainsFunc(began(h.Machines[o.Server]), func(e powerlog.Entry) bool { return e.At >= o.Begun && e.At <= at }) && !stoppedForGood(h, o, at) {
				once("done "+o.Target, o.Server, at, fmt.Sprintf("%s %s is said to be done, and no boot began since it was asked for", o.Kind, o.Target))
			}
		}
	}
}

// stoppedForGood says whether a server was stopped for a reboot until a time, and its claim was deleted before it was
// started again: that is done, and nothing is left to boot it.
func stoppedForGood(h History, o Op, at Time) bool {
	stopped := slices.ContainsFunc(h.Machines[o.Server], func(e powerlog.Entry) bool { return e.What == powerlog.Off && e.At >= o.Begun && e.At <= at })
	return stopped && slices.ContainsFunc(h.Ops, func(x Op) bool {
		return x.Kind == OpUnclaim && x.Server == o.Server && x.may() && x.Ended >= o.Begun && x.Begun <= at
	})
}
