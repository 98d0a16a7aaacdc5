package kinds

import (
	"fmt"
	"strings"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// bmcFacts are what a description has besides the columns: the inventory in short.
func bmcFacts(b *resource.BMC) (out []printer.Fact) {
	if f := b.Status.Found; f != nil {
		out = append(out, printer.Fact{"Last seen", printer.Stamp(&f.At)}, printer.Fact{"On segment", f.Segment}, printer.Fact{"Redfish", f.Redfish}, printer.Fact{"Service root", f.Problem})
	}
	return append(out, printer.Fact{"Inventory read", printer.Stamp(b.Status.InventoryAt)})
}

// inventoryText is each system's inventory in short.
func inventoryText(b *resource.BMC) string {
	var text strings.Builder
	for _, i := range b.Status.Inventory {
		rows := [][]string{
			{"Model:", strings.Join([]string{printer.Dash(i.Vendor), printer.Dash(i.Model), printer.Dash(i.Serial)}, ", ")},
			{"MAC addresses:", strings.Join(i.MACs(), ", ")},
		}
		printer.Lines(&text, "System "+printer.Dash(i.SystemURI), append(rows, InventoryFacts(i)...))
		var not [][]string
		for _, p := range i.Problems {
			not = append(not, []string{p.Part, string(p.Code), p.Text})
		}
		printer.Lines(&text, "Not read", not)
	}
	if text.Len() > 0 {
		text.WriteString("\n")
	}
	return text.String()
}

// InventoryFacts are what decides about a server, one per row.
func InventoryFacts(i protocol.Inventory) [][]string {
	uuid := i.UUID
	if i.UUIDProblem != "" {
		uuid = fmt.Sprintf("%s, which identifies nothing: %s", printer.Dash(i.UUID), i.UUIDProblem)
	}
	secure := "not known"
	if s := i.SecureBoot; s != nil {
		secure = map[bool]string{true: "on", false: "off"}[s.Enabled]
		if s.Enabled != s.Current {
			secure += " from the next boot"
		}
	}
	stop := reasoned(string(i.SafeStop.Class), i.SafeStop.Option, i.SafeStop.Reason)
	if r := i.SafeStop.Remedy; r != "" {
		stop += "; to raise it: " + r
	}
	return [][]string{
		{"UUID:", uuid},
		{"Architecture:", i.Architecture},
		{"Boot mode:", i.BootMode},
		{"Secure Boot:", secure},
		{"When mains power returns:", reasoned(string(i.Restore.Policy), i.Restore.Where, "")},
		{"Safe stop:", stop},
		{"Detection:", reasoned(string(i.Detection.Class), "every "+i.Detection.PollInterval.String(), i.Detection.Reason)},
	}
}

// reasoned is "what (particular): reason".
func reasoned(what, particular, reason string) string {
	s := printer.Dash(what)
	if particular != "" {
		s += " (" + particular + ")"
	}
	if reason != "" {
		s += ": " + reason
	}
	return s
}
