package store

import (
	"reflect"

	"rackboot/protocol/resource"
)

// identity holds uid and revision, where they are given, against the stored
// ones; old is nil if there is no such resource.
func (c *checker) identity(i int, in, old *resource.Metadata) {
	switch {
	case old == nil && (in.UID != "" || in.Revision != 0):
		c.addConflict(i, "metadata", "it does not exist any more; remove uid and revision to create it again")
	case old == nil:
	case in.UID != "" && in.UID != old.UID:
		c.addConflict(i, "metadata.uid", "the stored uid is %s: it was deleted and created again", old.UID)
	case in.Revision != 0 && in.Revision != old.Revision:
		c.addConflict(i, "metadata.revision", "the stored revision is %d", old.Revision)
	case old.DeletedAt != nil:
		c.addConflict(i, "metadata.name", "it is being deleted since %s; wait for that, then create it again",
			old.DeletedAt.UTC().Format("2006-01-02T15:04:05Z"))
	}
}

// set checks the objects against each other and the store: references exist,
// what must be unique is, and nothing moves that must stay.
func (c *checker) set(items []applyItem) {
	inSet := map[string]resource.Object{}
	for _, it := range items {
		h := it.next.Head()
		inSet[keyOf(h.Kind, h.Metadata.Name)] = it.next
	}
	lookup := func(kind resource.Kind, name string) resource.Object {
		if o, ok := inSet[keyOf(kind, name)]; ok {
			c.judging[keyOf(kind, name)] = 0 // it is known when it is written
			return o
		}
		return c.stored(kind, name)
	}
	servers, bmcs, images := false, false, false
	for i, it := range items {
		c.judge(&items[i])
		if r, ok := it.next.(resource.Referrer); ok {
			for _, ref := range r.References() {
				if ref.Name != "" && lookup(ref.Kind, ref.Name) == nil {
					c.add(i, ref.Path, "%s %q does not exist, neither in the hub nor in what is applied", ref.Kind, ref.Name)
				}
			}
		}
		switch next := it.next.(type) {
		case *resource.Server:
			servers = true
			c.sameRack(i, next, lookup)
			if s, ok := lookup(resource.KindSegment, next.Spec.SegmentRef.Name).(*resource.Segment); ok && !s.Spec.Role.BootsHosts() {
				c.add(i, "spec.segmentRef.name", "segment %q is of role bmc, from which nothing boots; name one of role boot or both", s.Metadata.Name)
			}
		case *resource.Claim:
			if ref := next.Spec.ServerRef; ref != nil && boots(it, next) {
				c.boots(i, "spec.bootPolicy.firstBoot", ref.Name, next.Spec.BootPolicy.FirstBoot, lookup)
			}
			c.ignition(i, "spec.ignitionSecretRef.name", next.Spec.IgnitionSecretRef, lookup)
			c.ofGroup(i, it, next, lookup)
		case *resource.Maintenance:
			if next.Spec.ServerPower != resource.WantOff && len(next.Spec.Firmware) == 0 {
				c.boots(i, "spec.boot.bootPolicy.firstBoot", next.Spec.ServerRef.Name, next.Spec.Boot.BootPolicy.FirstBoot, lookup)
			}
			c.ignition(i, "spec.boot.ignitionSecretRef.name", next.Spec.Boot.IgnitionSecretRef, lookup)
		case *resource.BootImage:
			images = true
		case *resource.ServerGroup:
			if stub := next.Spec.Stub; stub != nil {
				c.ignition(i, "spec.stub.secretRef.name", &stub.SecretRef, lookup)
			}
		case *resource.BMC:
			bmcs = true
			c.credentials(i, "spec.credentialsRef", next.Spec.CredentialsRef, lookup)
		case *resource.Segment:
			if b := next.Spec.BMCs; b != nil && b.Accept != nil {
				c.credentials(i, "spec.bmcs.accept.credentialsRef", b.Accept.CredentialsRef, lookup)
			}
		}
		if it.old != nil {
			c.change(i, it, lookup)
		}
	}
	if servers {
		c.unique(items, inSet)
		c.room(items, lookup)
	}
	if bmcs {
		c.uniqueMACs(items, inSet)
	}
	if images {
		c.versions(items)
	}
	c.environments(items, lookup)
}

// judge begins with an item: what is looked up from now on is what it is judged by.
func (c *checker) judge(it *applyItem) {
	if it.judged == nil {
		it.judged = map[string]uint64{}
	}
	c.judging = it.judged
}

func rackOf(srv *resource.Server, lookup func(resource.Kind, string) resource.Object) (viaBMC, viaSegment string) {
	if b, ok := lookup(resource.KindBMC, srv.Spec.BMCRef.Name).(*resource.BMC); ok {
		viaBMC = b.Spec.RackRef.Name
	}
	if s, ok := lookup(resource.KindSegment, srv.Spec.SegmentRef.Name).(*resource.Segment); ok {
		viaSegment = s.Spec.RackRef.Name
	}
	return viaBMC, viaSegment
}

// sameRack: one agent owns the BMC of a server and answers its boots.
func (c *checker) sameRack(i int, srv *resource.Server, lookup func(resource.Kind, string) resource.Object) {
	viaBMC, viaSegment := rackOf(srv, lookup)
	if viaBMC != "" && viaSegment != "" && viaBMC != viaSegment {
		c.add(i, "spec.segmentRef.name", "the segment is in rack %q and the BMC in rack %q; both must be in one rack", viaSegment, viaBMC)
	}
}

// room refuses servers beyond those that a rack may have. Two who apply at the same moment may both find room.
func (c *checker) room(items []applyItem, lookup func(resource.Kind, string) resource.Object) {
	left := map[string]int{}
	for i, it := range items {
		srv, ok := it.next.(*resource.Server)
		if !ok || it.old != nil {
			continue
		}
		c.judge(&items[i])
		rack, _ := rackOf(srv, lookup)
		if rack == "" {
			continue
		}
		if _, counted := left[rack]; !counted {
			left[rack] = resource.MaxServersPerRack - c.sets.objects.serversIn(rack)
		}
		if left[rack]--; left[rack] < 0 {
			c.add(i, "spec.bmcRef.name", "rack %q would have more than %d servers, as many as one agent has; put the others into another rack, with an agent of its own", rack, resource.MaxServersPerRack)
		}
	}
}

// change refuses changes that would take a server away from under a hold, a
// claim or the agent that knows what happened to it.
func (c *checker) change(i int, it applyItem, lookup func(resource.Kind, string) resource.Object) {
	switch next := it.next.(type) {
	case *resource.BMC:
		if was := it.old.(*resource.BMC).Spec.RackRef.Name; was != next.Spec.RackRef.Name {
			c.add(i, "spec.rackRef.name", "a BMC cannot move from rack %q; delete it and create it in the other rack", was)
		}
	case *resource.BootImage:
		c.immutable(i, it.old.(*resource.BootImage), next)
	case *resource.Segment:
		if was := it.old.(*resource.Segment).Spec.RackRef.Name; was != next.Spec.RackRef.Name {
			c.add(i, "spec.rackRef.name", "a segment cannot move from rack %q; delete it and create it in the other rack", was)
		}
		if !next.Spec.Role.BootsHosts() && it.old.(*resource.Segment).Spec.Role.BootsHosts() {
			if who := c.sets.objects.referring(resource.KindSegment, next.Metadata.Name, resource.KindServer); len(who) > 0 {
				c.add(i, "spec.role", "nothing boots from a segment of role bmc, and %s do; use role both", joined(who))
			}
		}
	case *resource.Secret:
		if was := it.old.(*resource.Secret).Spec.Type; was != next.Spec.Type {
			if who := c.sets.secrets.Users(next.Metadata.Name); len(who) > 0 {
				c.add(i, "spec.type", "the type cannot change from %s while %s use it", was, joined(who))
			}
		}
	case *resource.Server:
		old := it.old.(*resource.Server)
		from, _ := rackOf(old, lookup)
		if to, _ := rackOf(next, lookup); from != "" && to != "" && from != to {
			c.add(i, "spec.bmcRef.name", "a server cannot move from rack %q to %q; delete it and create it again", from, to)
		}
		if next.Spec.DisablePowerOff && !old.Spec.DisablePowerOff {
			if held := Referring[*resource.Hold](c.sets.objects, resource.KindServer, next.Metadata.Name); len(held) > 0 {
				c.add(i, "spec.disablePowerOff", "the server is held by hold %s; release its holds first", held[0].Metadata.Name)
			}
		}
		if !exchanged(it) {
			return
		}
		if who := c.sets.objects.users(next.Metadata.Name); len(who) > 0 {
			c.add(i, "spec.bmcRef.name", "bmcRef and systemURI cannot change while the server is in use by %s", joined(who))
		}
	case *resource.Maintenance:
		if was := it.old.(*resource.Maintenance).Spec.ServerRef.Name; was != next.Spec.ServerRef.Name {
			c.add(i, "spec.serverRef.name", "the maintenance is of server %q; delete it and create it again for another", was)
		}
		if was := it.old.(*resource.Maintenance); was.Status.State == resource.MaintenanceActive && (!reflect.DeepEqual(was.Spec.Boot, next.Spec.Boot) || !reflect.DeepEqual(was.Spec.Firmware, next.Spec.Firmware)) {
			c.add(i, "spec.boot", "the maintenance has begun; delete it and create it again to boot something else")
		}
	case *resource.Claim:
		old := it.old.(*resource.Claim)
		same := (old.Spec.ServerRef == nil) == (next.Spec.ServerRef == nil) &&
			(old.Spec.ServerRef == nil || *old.Spec.ServerRef == *next.Spec.ServerRef)
		if old.Status.Server != "" && !same {
			c.add(i, "spec.serverRef", "the claim has server %q; delete it and create it again for another", old.Status.Server)
		}
	}
}
