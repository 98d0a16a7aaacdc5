package judge

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"rackboot/protocol"
)

// The promises of a site of several hubs, beside those of [Promises].
const (
	NoRaw   Promise = "no-raw"  // no operator is answered that the hub has a defect
	Forward Promise = "forward" // the agent goes back to no earlier document or fence
	InTime  Promise = "in-time" // somebody's next hold is accepted, and Fenced, in time
)

// PromisesOf lists the promises of a site with so many hubs in the order of the table.
func PromisesOf(hubs int) []Promise {
	if hubs > 1 {
		return append(Promises(), NoRaw, Forward, InTime)
	}
	return Promises()
}

// Within which time of a fault a hold is accepted, and Fenced.
const (
	AcceptedWithin = 10 * time.Second
	FencedWithin   = 20 * time.Second
)

// Probe is a hold on a server that is off and that nobody has a claim on, asked for, again and again, from the
// beginning of a fault. Accepted and Fenced are 0 where it was not.
type Probe struct {
	Fault                      string
	Slack                      time.Duration // that the fault is given
	Server                     string
	From, Accepted, Fenced, To Time
}

// Heads is what the agent said of itself.
type Heads struct {
	At      Time
	Applied map[string]protocol.Head
	Fence   uint64
}

// several finds what is promised of several hubs alone:
//
//	what there is                       | must be so
//	an answer to an operator            | its code is not that of a defect
//	two that the agent said, one by one | each document of the later is that of the earlier, or newer; so is the fence
//	a probe                             | accepted and Fenced in time
func several(h History, v *Verdict) {
	for _, o := range h.Ops {
		v.tested(NoRaw, o.Server, o.Begun, o.Ended)
		if o.Raw {
			v.broken(NoRaw, o.Server, o.Ended, fmt.Sprintf("%s was answered as by a hub with a defect: %s", o.Kind, o.Why))
		}
	}
	for i := 1; i < len(h.Agents); i++ {
		before, now := h.Agents[i-1], h.Agents[i]
		v.tested(Forward, "", before.At, now.At)
		if now.Fence < before.Fence {
			v.broken(Forward, "", now.At, fmt.Sprintf("the agent follows fence %d, and followed %d", now.Fence, before.Fence))
		}
		for _, leaf := range slices.Sorted(maps.Keys(before.Applied)) {
			if was, is := before.Applied[leaf], now.Applied[leaf]; was.Newer(is) {
				v.broken(Forward, "", now.At, fmt.Sprintf("the agent has %s of epoch %d, version %d, and had %d, %d", leaf, is.Epoch, is.Version, was.Epoch, was.Version))
			}
		}
	}
	for _, p := range h.Probes {
		v.tested(InTime, p.Server, p.From, p.To)
		for _, x := range []struct {
			what   string
			at     Time
			within time.Duration
		}{{"accepted", p.Accepted, AcceptedWithin + p.Slack}, {"Fenced", p.Fenced, FencedWithin + p.Slack}} {
			switch {
			case x.at == 0:
				v.broken(InTime, p.Server, p.From, fmt.Sprintf("a hold was not %s within %s of %s", x.what, p.To.Sub(p.From), p.Fault))
			case x.at.Sub(p.From) > x.within:
				v.broken(InTime, p.Server, p.From, fmt.Sprintf("a hold was %s %s after %s, and is to be within %s", x.what, x.at.Sub(p.From).Round(time.Millisecond), p.Fault, x.within))
			}
		}
	}
}

// File is an uploaded file as a hub has it. Digest is what the hub says, and Content that of the bytes in its folder;
// empty where there are none.
type File struct{ Digest, Content string }

// uploads finds uploads of which a hub has nothing, or something else, at the end:
//
//	accepted         | must be so
//	upload of a name | at rest each hub has the name, with the archive of the last that was accepted or of one that may have come after it
//	                 | at rest each hub has the bytes of which it says the digest
func uploads(h History, v *Verdict) {
	last := map[string]Op{} // that was accepted, by the file's name
	for _, o := range h.Ops {
		if o.Kind == OpUpload && o.Result == Accepted {
			v.tested(NotLost, "", o.Begun, o.Ended)
			if o.Ended >= last[o.Target].Ended {
				last[o.Target] = o
			}
		}
	}
	if !h.Quiet {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(last)) {
		o := last[name]
		may := map[string]bool{o.Digest: true}
		for _, x := range h.Ops {
			if x.Kind == OpUpload && x.Target == name && x.may() && x.Ended > o.Begun {
				may[x.Digest] = true
			}
		}
		for _, hub := range slices.Sorted(maps.Keys(h.Files)) {
			switch f, there := h.Files[hub][name]; {
			case !there:
				v.broken(NotLost, "", h.End, fmt.Sprintf("%s was uploaded, and %s does not have it", name, hub))
			case !may[f.Digest]:
				v.broken(NotLost, "", h.End, fmt.Sprintf("%s has %s as %s, and the last that was uploaded is %s", hub, name, f.Digest, o.Digest))
			case f.Content != f.Digest:
				v.broken(NotLost, "", h.End, fmt.Sprintf("%s says that %s is %s, and has %q", hub, name, f.Digest, f.Content))
			}
		}
	}
}
