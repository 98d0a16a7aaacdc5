package store

import "rackboot/protocol"

// accept makes a BMC that somebody applies an accepted one: who applies it gives
// credentials and a pin. old is nil for a new one.
func accept(b *protocol.BMC, old protocol.Object, by string) {
	was, _ := old.(*protocol.BMC)
	if was == nil || was.Pending() {
		b.Status.State, b.Status.AcceptedBy = protocol.BMCAccepted, by
	}
	if was != nil && was.Spec.MACAddress != b.Spec.MACAddress && was.MAC() != b.Spec.MACAddress {
		b.Status.Found, b.Status.Address = nil, "" // they were of another interface
	}
}

// uniqueMAC holds the MAC address of a BMC against all accepted ones: whoever has
// it gets the lease, and its address is followed. One that was found and waits may
// have it: it is the same BMC.
func (c *checker) uniqueMAC(i int, b *protocol.BMC, items []applyItem) {
	mac := b.Spec.MACAddress
	if mac == "" {
		return
	}
	inSet := map[string]bool{}
	clash := func(other *protocol.BMC) {
		if other.Spec.MACAddress == mac && !other.Pending() && other.Metadata.Name != b.Metadata.Name {
			c.add(i, "spec.macAddress", "MAC address %s is already that of BMC %q", mac, other.Metadata.Name)
		}
	}
	for n, it := range items {
		if other, ok := it.next.(*protocol.BMC); ok {
			inSet[other.Metadata.Name] = true
			if n < i {
				clash(other)
			}
		}
	}
	for _, other := range List[*protocol.BMC](c.store) {
		if !inSet[other.Metadata.Name] {
			clash(other)
		}
	}
}
