package kinds

import (
	"fmt"
	"strconv"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

// claimFacts are the boot policy of a claim, with what it says by default, and what came of it.
func claimFacts(c *resource.Claim) []printer.Fact {
	p := c.Spec.BootPolicy
	return append([]printer.Fact{{"Boot", string(p.Boot)}, {"OS reboot", string(p.OSReboot)}, {"Kernel arguments", c.Spec.KernelArgs}}, bootFacts(c)...)
}

// bootFacts are what a claim boots as it was resolved, and what was proved of it.
func bootFacts(c *resource.Claim) []printer.Fact {
	b := c.Status.Boot
	if b == nil {
		return []printer.Fact{{"Image resolved", "not yet"}}
	}
	out := []printer.Fact{
		{"Image resolved", b.Reference},
		{"Catalogue entry", b.BootImage},
		{"Boot state", string(b.State)},
		{"Boot generation", strconv.FormatUint(b.Generation, 10)},
	}
	switch {
	case b.AdoptedBy != "":
		return append(out, printer.Fact{"Provisioned at", printer.Stamp(b.ProvisionedAt)}, printer.Fact{"Provisioned by", "the word of " + b.AdoptedBy})
	case b.ProvisionedAt != nil:
		return append(out, printer.Fact{"Provisioned at", printer.Stamp(b.ProvisionedAt)}, printer.Fact{"Provisioned by", "the report " + string(b.Evidence)})
	}
	return append(out, printer.Fact{"Provisioned at", "not yet"})
}

// maintenanceFacts are its place in the queue, while it has one.
func maintenanceFacts(m *resource.Maintenance) []printer.Fact {
	if m.Status.Position == 0 {
		return nil
	}
	return []printer.Fact{{"Position", fmt.Sprint(m.Status.Position)}}
}
