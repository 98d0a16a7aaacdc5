package decide

import (
	"slices"
	"time"

	"rackboot/protocol/resource"
)

// lifetimes counts the times to live of holds.
type lifetimes struct {
	d *draft
	s *Snapshot
}

func (lt lifetimes) proofs() proofs { return proofs(lt) }

// count counts the times to live and ends the holds that end by them: with the
// transaction that writes the record, so that they do not count here any more.
func (lt lifetimes) count() {
	var counted map[string]time.Duration
	for _, h := range lt.d.holds {
		if why := malformed(h.ActiveHold); why != "" {
			lt.d.raise(resource.CondHoldMalformed, "hold %s: %s", h.ID, why)
		}
		if h.TTL <= 0 {
			continue
		}
		term := lt.d.rec.Holds.Terms[h.ID]
		from, known := lt.d.watch.Counted[h.ID]
		if !known || from > lt.s.Uptime {
			from = lt.s.Uptime
		}
		if counted == nil {
			counted = map[string]time.Duration{}
		}
		counted[h.ID] = from
		elapsed := term.Elapsed + lt.s.Uptime - from
		over := elapsed >= h.TTL.D()
		if elapsed-term.Elapsed >= termEvery || over && term.Elapsed < h.TTL.D() {
			term.Elapsed, counted[h.ID] = elapsed, lt.s.Uptime
			lt.set(h.ID, term)
		}
		if !over {
			lt.d.recheck(min(h.TTL.D()-elapsed, termEvery))
		}
		switch expiryRule(true, over, !term.ExpiredAt.IsZero(), h.OnExpiry) {
		case expiryExpires:
			term.ExpiredAt = lt.d.now
			lt.set(h.ID, term)
			lt.d.happened(resource.EventHoldExpired, "hold %s by %s: kept", h.ID, h.Owner)
			lt.d.raise(resource.CondHoldExpired, "hold %s by %s", h.ID, h.Owner)
		case expiryExpired:
			lt.d.raise(resource.CondHoldExpired, "hold %s by %s", h.ID, h.Owner)
		case expiryEnds:
			lt.d.happened(resource.EventHoldExpired, "hold %s by %s: released, as it says", h.ID, h.Owner)
			lt.d.plan.Expire = append(lt.d.plan.Expire, resource.Release{
				HoldID: h.ID, Server: lt.d.server, By: ByExpiry, At: lt.d.now, Reason: "its time to live of " + h.TTL.String() + " was over",
			})
		case expiryLies:
		}
	}
	lt.d.watch.Counted = counted
	if len(lt.d.plan.Expire) > 0 {
		lt.d.holds = slices.DeleteFunc(slices.Clone(lt.d.holds), func(h Hold) bool {
			return slices.ContainsFunc(lt.d.plan.Expire, func(r resource.Release) bool { return r.HoldID == h.ID })
		})
		lt.proofs().forget()
	}
}

func (lt lifetimes) set(id string, t Term) {
	if lt.d.rec.Holds.Terms == nil {
		lt.d.rec.Holds.Terms = map[string]Term{}
	}
	lt.d.rec.Holds.Terms[id] = t
	lt.d.dirty = true
}
