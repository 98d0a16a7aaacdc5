package store

import (
	"slices"

	"rackboot/protocol/resource"
)

// touch notes whom a change concerns; it needs m.mu, after the change was counted.
func (m *mirror) touch(bucket, name string, old, now *cached) {
	if apart(bucket) {
		return
	}
	var racks []string
	for _, e := range []*cached{old, now} {
		of, known := m.racksOf(bucket, name, e)
		if !known {
			m.touches.all = m.changes
			return
		}
		racks = append(racks, of...)
	}
	for _, r := range racks {
		m.touches.racks[r] = m.changes
	}
}

// racksOf are the racks that an entry concerns; false where that is not known.
func (m *mirror) racksOf(bucket, name string, e *cached) (racks []string, known bool) {
	switch bucket {
	case BesideLedger:
		return m.servedBy(name), true
	case BesideInventory, BesideSealed:
		return m.rackOfBMC(name)
	}
	if e == nil || e.Deleted {
		return nil, true
	}
	switch o := e.obj.(type) {
	case *resource.Rack:
		return []string{o.Metadata.Name}, true
	case *resource.Agent:
		return append(m.servedBy(o.Metadata.Name), o.Spec.RackRef.Name), true
	case *resource.Segment:
		return []string{o.Spec.RackRef.Name}, true
	case *resource.BMC:
		return []string{o.Spec.RackRef.Name}, true
	case *resource.Server:
		return m.rackOfBMC(o.Spec.BMCRef.Name)
	case *resource.Claim:
		return m.racksOfServers(o.Status.Server, namedBy(o))
	case *resource.Maintenance:
		return m.racksOfServers(o.Spec.ServerRef.Name)
	case *resource.BootConfiguration:
		return m.racksOfServers(o.Spec.Server)
	case *resource.AgentUpgrade:
		return nil, true // what it comes to is written with agents
	case *resource.Freeze:
		if r := o.Spec.RackRef; r != nil {
			return []string{r.Name}, true
		}
		return nil, false
	case *resource.Hold:
		racks, known = m.racksOfServers(o.Spec.Server)
		return append(racks, o.Status.Rack), known
	}
	return nil, false
}

func namedBy(c *resource.Claim) string {
	if c.Spec.ServerRef == nil {
		return ""
	}
	return c.Spec.ServerRef.Name
}

// servedBy are the racks that an agent serves.
func (m *mirror) servedBy(agent string) (racks []string) {
	for _, e := range m.indexes.named[string(RacksByAgent)].find(term{word: agent}) {
		_, name := split(e.Key)
		racks = append(racks, name)
	}
	return racks
}

func (m *mirror) rackOfBMC(bmc string) ([]string, bool) {
	b, ok := m.buckets[bucketOf(resource.KindBMC)][bmc].object().(*resource.BMC)
	if !ok {
		return nil, false
	}
	return []string{b.Spec.RackRef.Name}, true
}

// racksOfServers are those of servers, of which some may be none.
func (m *mirror) racksOfServers(servers ...string) (racks []string, known bool) {
	for _, name := range slices.DeleteFunc(servers, func(s string) bool { return s == "" }) {
		s, ok := m.buckets[bucketOf(resource.KindServer)][name].object().(*resource.Server)
		if !ok {
			return nil, false
		}
		of, known := m.rackOfBMC(s.Spec.BMCRef.Name)
		if !known {
			return nil, false
		}
		racks = append(racks, of...)
	}
	return racks, true
}

// touches say when something was last changed that a rack's part of the store depends on. A change whose racks are not
// known is one of all racks.
type touches struct {
	all   uint64
	racks map[string]uint64
}
