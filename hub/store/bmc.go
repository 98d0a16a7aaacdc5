package store

import "rackboot/protocol/resource"

// accept makes a BMC that somebody applies an accepted one: who applies it gives
// credentials and a pin. old is nil for a new one.
func accept(b *resource.BMC, old resource.Object, by string) {
	was, _ := old.(*resource.BMC)
	if was == nil || was.Pending() {
		b.Status.State, b.Status.AcceptedBy = resource.BMCAccepted, by
	}
	if was != nil && was.Spec.MACAddress != b.Spec.MACAddress && was.MAC() != b.Spec.MACAddress {
		b.Status.Found, b.Status.Address = nil, "" // they were of another interface
	}
}

// uniqueMACs holds the MAC addresses of BMCs against all accepted ones: whoever has
// one gets the lease, and its address is followed. One that was found and waits may
// have it: it is the same BMC.
func (c *checker) uniqueMACs(items []applyItem, inSet map[string]resource.Object) {
	before := map[string][]*resource.BMC{} // in the set, by MAC address
	for i, it := range items {
		b, ok := it.next.(*resource.BMC)
		mac := ""
		if ok {
			mac = b.Spec.MACAddress
		}
		if mac == "" {
			continue
		}
		clash := func(other *resource.BMC) {
			if !other.Pending() && other.Metadata.Name != b.Metadata.Name {
				c.add(i, "spec.macAddress", "MAC address %s is already that of BMC %q", mac, other.Metadata.Name)
			}
		}
		for _, other := range before[mac] {
			clash(other)
		}
		for _, other := range Find(c.sets.objects, BMCsByMAC, mac) {
			if inSet[keyOf(resource.KindBMC, other.Metadata.Name)] == nil {
				clash(other)
			}
		}
		before[mac] = append(before[mac], b)
	}
}
