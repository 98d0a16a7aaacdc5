package cli

import (
	"strings"
	"time"

	"rackboot/protocol/resource"
)

func bmcCells(b *resource.BMC, now time.Time) []string {
	s := b.Status
	state, address := string(s.State), s.Address
	if address == "" {
		address = b.Spec.Address
	}
	foundBy, vendor, model, fingerprint := string(resource.FoundByManifest), "", "", b.Spec.TLS.Fingerprint
	if f := s.Found; f != nil {
		foundBy, vendor, model = string(f.By), f.Vendor, f.Product
		if b.Pending() {
			fingerprint = f.Fingerprint // to be compared before it is accepted
		}
	}
	if len(s.Inventory) > 0 {
		vendor, model = s.Inventory[0].Vendor, s.Inventory[0].Model
	}
	return []string{
		b.Metadata.Name, b.Spec.RackRef.Name, state, address, vendor, model, strings.Join(s.Servers, ","), foundBy,
		conditionCodes(s.Conditions, now), b.MAC(), fingerprint, s.AcceptedBy, b.Spec.CredentialsRef,
	}
}

// bmcFacts are what a description has besides the columns: the inventory in short.
func bmcFacts(b *resource.BMC) (out []fact) {
	if f := b.Status.Found; f != nil {
		out = append(out, fact{"Last seen", stamp(&f.At)}, fact{"On segment", f.Segment}, fact{"Redfish", f.Redfish}, fact{"Service root", f.Problem})
	}
	return append(out, fact{"Inventory read", stamp(b.Status.InventoryAt)})
}

// inventoryText is each system's inventory in short.
func inventoryText(b *resource.BMC) string {
	var text strings.Builder
	for _, i := range b.Status.Inventory {
		rows := [][]string{
			{"Model:", strings.Join([]string{dash(i.Vendor), dash(i.Model), dash(i.Serial)}, ", ")},
			{"MAC addresses:", strings.Join(i.MACs(), ", ")},
		}
		lines(&text, "System "+dash(i.SystemURI), append(rows, inventoryFacts(i)...))
		var not [][]string
		for _, p := range i.Problems {
			not = append(not, []string{p.Part, string(p.Code), p.Text})
		}
		lines(&text, "Not read", not)
	}
	if text.Len() > 0 {
		text.WriteString("\n")
	}
	return text.String()
}
