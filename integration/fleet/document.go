package fleet

import (
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// arrived is what orders a document.
type arrived struct {
	leaf   string
	head   protocol.Head
	term   uint64
	fence  message.Fence
	digest string
	issued time.Time
}

// order is how a document stands to what is in force.
type order string

const (
	orderFresh   order = "fresh"
	orderAgain   order = "again"   // the same once more: it is acknowledged once more
	orderOlder   order = "older"   // it was late on its way
	orderAhead   order = "ahead"   // of a hub that must answer a Hello first
	orderRefused order = "refused" // of another hub, or an earlier agent
)

func (d *disk) order(m arrived) order {
	have := d.Docs[m.leaf]
	switch {
	case m.fence.Newer(d.Fence):
		return orderAhead
	case m.fence != d.Fence, m.term < d.Term:
		return orderRefused
	case m.head.Newer(have.Head):
		return orderFresh
	case have == document{m.head, m.digest}:
		return orderAgain
	case m.head == have.Head:
		return orderRefused
	}
	return orderOlder
}

// apply puts a document in force, and acknowledges it.
func (a *agent) apply(now time.Time, m arrived, do func(), released []string) {
	switch a.disk.order(m) {
	case orderAhead:
		a.session.ask(now)
		return
	case orderOlder:
		return
	case orderRefused:
		a.shared.counts.fail(protocol.Errorf(protocol.CodeConflict, "apply "+m.leaf, "agent %s refuses version %d/%d of fence %d", a.name, m.head.Epoch, m.head.Version, m.fence.Number))
		return
	case orderFresh:
		do()
		a.disk.Docs[m.leaf], a.disk.Term = document{m.head, m.digest}, m.term
	case orderAgain:
	}
	a.heads[m.leaf] = a.disk.Docs[m.leaf]
	a.session.last = later(a.session.last, m.issued)
	a.publish(message.LeafApplied, message.Applied{
		Doc: m.leaf, Head: m.head, Digest: m.digest, Released: released, Nonce: a.session.own, Fence: a.disk.Fence,
	})
}

func released(d message.HoldDoc) (ids []string) {
	for _, r := range d.Releases {
		ids = append(ids, r.HoldID)
	}
	return ids
}

// applyHolds takes the holds of a document. One that it does not name any more stays, as
// only a release ends it.
func (a *agent) applyHolds(now time.Time, d message.HoldDoc) {
	gone := released(d)
	named := map[string]bool{}
	for _, h := range d.Holds {
		named[h.ID] = true
		s := a.disk.made(h.Server)
		if slices.ContainsFunc(s.Holds, func(o hold) bool { return o.ID == h.ID }) {
			continue
		}
		s.Holds = append(s.Holds, hold{ActiveHold: h, EnforcedAt: now})
		a.disk.Events.add(resource.Event{At: now, Server: s.Name, Code: resource.EventHoldEnforced, Message: "hold " + h.ID})
		a.shared.laid.note(h.ID, now)
	}
	t := turn{now: now, agent: a}
	for _, s := range a.disk.Servers {
		s.Holds = slices.DeleteFunc(s.Holds, func(h hold) bool {
			if !slices.Contains(gone, h.ID) {
				return false
			}
			t.event(s, resource.EventHoldReleased, "hold "+h.ID)
			return true
		})
		for i := range s.Holds {
			s.Holds[i].Missing = !named[s.Holds[i].ID]
		}
		if len(s.Holds) > 0 && s.Doing == doingNothing && s.Power == protocol.PowerOff {
			t.settle(s)
		}
	}
	a.reports.news(now, true)
}

// applyRack takes one shard of the rack's servers.
func (a *agent) applyRack(now time.Time, d message.RackDoc) {
	var keys *wire.Verifier
	if d.Rack != nil {
		a.disk.Settle = d.Rack.SettleWindow
		a.shared.laid.note(settling(a.rack, a.disk.Settle), now)
	}
	named := map[string]bool{}
	for _, in := range d.Servers {
		named[in.Server] = true
		s := a.disk.made(in.Server)
		s.Shard, s.Missing, s.UID, s.MAC = d.Shard, false, in.UID, in.BootMAC
		s.Owner, s.Want, s.Releasing = in.Owner.UID, in.Power, in.Releasing
		if in.Boot == nil {
			s.Boot = nil
			continue
		}
		is := owned{in.Boot.Owner.UID, in.Boot.Generation}
		was := s.Boot
		s.Boot = &boot{owned: is, Digest: in.Boot.Image.Digest, Target: in.Boot.BootPolicy.FirstBoot.Target()}
		if was != nil && was.owned == is {
			s.Boot.Attempts, s.Boot.Echo = was.Attempts, was.Echo
		}
		if len(in.Boot.Grant) > 0 && s.Boot.Attempts == 0 {
			s.Boot.Attempts = a.granted(in)
		}
		if len(in.Boot.Provisioned) > 0 && !s.Boot.Echo {
			if keys == nil {
				keys = wire.NewVerifier(a.signer.Public())
			}
			var p resource.Provisioned
			s.Boot.Echo = wire.Open(keys, wire.FactProvisioned, in.Boot.Provisioned, &p) == nil && p.Server == s.Name && p.OwnerUID == is.Owner && p.Generation == is.Generation
		}
	}
	for _, s := range a.disk.Servers {
		if s.Shard == d.Shard && !named[s.Name] {
			s.Missing = true
		}
	}
	a.reports.news(now, false)
}

// granted is how often a server may be installed: not by a grant of another server or owner,
// and not by one that was given to another disk, which may have used it.
func (a *agent) granted(in message.ServerIntent) int {
	var g message.Grant
	if err := wire.Open(a.hub, wire.FactGrant, in.Boot.Grant, &g); err != nil {
		a.shared.counts.fail(err)
		return 0
	}
	if in.Boot.GrantFor != a.disk.Incarnation || g.Server != in.Server || g.OwnerUID != in.Boot.Owner.UID || g.Generation != in.Boot.Generation {
		return 0
	}
	return g.MaxAttempts
}

// settling names a rack's settle window among what is noted when it comes to an agent.
func settling(rack string, settle time.Duration) string {
	return rack + " settles in " + settle.String()
}
