package decide

import (
	"fmt"
	"slices"
	"time"

	"rackboot/protocol/resource"
)

// Term is how far the time to live of a hold has run.
type Term struct {
	// Elapsed is the time since the hold was enforced in which the agent ran, up to
	// termEvery less.
	Elapsed time.Duration `json:"elapsed,omitempty"`
	// ExpiredAt is when it was over, by the agent's clock; zero before.
	ExpiredAt time.Time `json:"expiredAt,omitzero"`
}

// termEvery is how much of a time to live a crash may lose.
const termEvery = 30 * time.Second

// ByExpiry is who ends a hold whose time to live is over.
const ByExpiry = "expiry"

// expiry is what becomes of a hold by its time to live.
type expiry string

const (
	expiryLies    expiry = "lies"
	expiryExpires expiry = "expires" // now, and is kept
	expiryExpired expiry = "expired" // before, and is kept
	expiryEnds    expiry = "ends"
)

// expiryRule is the table of times to live. The first row that fits decides.
//
//	ttl  | over | said | onExpiry | answer
//	none | *    | *    | *        | lies
//	some | no   | *    | *        | lies
//	some | yes  | *    | release  | ends
//	some | yes  | no   | *        | expires
//	some | yes  | yes  | *        | expired
//
// The hold's own terms decide, as they were when it was placed (kured 822: a later
// setting never judges a lock again). Whatever cannot be read is kept.
func expiryRule(ttl, over, said bool, on resource.OnExpiry) expiry {
	switch {
	case !ttl, !over:
		return expiryLies
	case on == resource.ExpiryRelease:
		return expiryEnds
	case said:
		return expiryExpired
	}
	return expiryExpires
}

// malformed says what of a hold this agent cannot read; empty if nothing. The hold is
// enforced all the same, as a soft one that does not end by itself.
func malformed(h resource.ActiveHold) string {
	switch {
	case h.Mode != "" && h.Mode != resource.StopSoft && h.Mode != resource.StopHard:
		return fmt.Sprintf("mode %.40q", h.Mode)
	case h.OnExpiry != "" && h.OnExpiry != resource.ExpiryKeep && h.OnExpiry != resource.ExpiryRelease:
		return fmt.Sprintf("onExpiry %.40q", h.OnExpiry)
	case h.TTL < 0:
		return fmt.Sprintf("ttl %s", h.TTL)
	case h.SoftTimeout < 0:
		return fmt.Sprintf("softTimeout %s", h.SoftTimeout)
	}
	return ""
}

// terms counts the times to live and ends the holds that end by them: with the
// transaction that writes the record, so that they do not count here any more.
func (p *step) terms() {
	var counted map[string]time.Duration
	for _, h := range p.snap.Holds {
		if why := malformed(h.ActiveHold); why != "" {
			p.raise(resource.CondHoldMalformed, "hold %s: %s", h.ID, why)
		}
		if h.TTL <= 0 {
			continue
		}
		term := p.rec.Terms[h.ID]
		from, known := p.watch.Counted[h.ID]
		if !known || from > p.snap.Uptime {
			from = p.snap.Uptime
		}
		if counted == nil {
			counted = map[string]time.Duration{}
		}
		counted[h.ID] = from
		elapsed := term.Elapsed + p.snap.Uptime - from
		over := elapsed >= h.TTL.D()
		if elapsed-term.Elapsed >= termEvery || over && term.Elapsed < h.TTL.D() {
			term.Elapsed, counted[h.ID] = elapsed, p.snap.Uptime
			p.setTerm(h.ID, term)
		}
		if !over {
			p.recheck(min(h.TTL.D()-elapsed, termEvery))
		}
		switch expiryRule(true, over, !term.ExpiredAt.IsZero(), h.OnExpiry) {
		case expiryExpires:
			term.ExpiredAt = p.now
			p.setTerm(h.ID, term)
			p.happened(resource.EventHoldExpired, "hold %s by %s: kept", h.ID, h.Owner)
			p.raise(resource.CondHoldExpired, "hold %s by %s", h.ID, h.Owner)
		case expiryExpired:
			p.raise(resource.CondHoldExpired, "hold %s by %s", h.ID, h.Owner)
		case expiryEnds:
			p.happened(resource.EventHoldExpired, "hold %s by %s: released, as it says", h.ID, h.Owner)
			p.plan.Expire = append(p.plan.Expire, resource.Release{
				HoldID: h.ID, Server: p.snap.Server, By: ByExpiry, At: p.now, Reason: "its time to live of " + h.TTL.String() + " was over",
			})
		case expiryLies:
		}
	}
	p.watch.Counted = counted
	if len(p.plan.Expire) > 0 {
		p.snap.Holds = slices.DeleteFunc(slices.Clone(p.snap.Holds), func(h Hold) bool {
			return slices.ContainsFunc(p.plan.Expire, func(r resource.Release) bool { return r.HoldID == h.ID })
		})
		p.forgetHolds()
	}
}

func (p *step) setTerm(id string, t Term) {
	if p.rec.Terms == nil {
		p.rec.Terms = map[string]Term{}
	}
	p.rec.Terms[id] = t
	p.dirty = true
}
