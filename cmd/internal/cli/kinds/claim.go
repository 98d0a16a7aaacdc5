package kinds

import (
	"fmt"
	"strconv"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

// groupPrefix begins what a claim boots whose image is a group's, where it is shown.
const groupPrefix = "group:"

func claimColumns(c *resource.Claim, now time.Time) []cell {
	phase := c.Status.Phase
	if c.Metadata.DeletedAt != nil && phase == "" {
		phase = resource.PhaseReleasing
	}
	var b resource.ClaimBoot
	if c.Status.Boot != nil {
		b = *c.Status.Boot
	}
	return []cell{
		col("NAME", c.Metadata.Name),
		phaseCell(phase),
		col("SERVER", c.Status.Server),
		col("POWER", string(c.Spec.Power)),
		col("IMAGE", bootSource(c.Spec.Image, c.Spec.ImageFrom, c.Spec.BootEnv)),
		conditionsCell(c.Status.Conditions, now),
		col("AGE", printer.Age(c.Metadata.CreatedAt, now)).aged(""),
		wide("FIRST-BOOT", string(c.Spec.BootPolicy.FirstBoot)),
		wide("EVIDENCE", string(c.Status.EvidenceClass)),
		wide("SECRETS", string(c.Status.Secrets)),
		wide("VERSION", b.Version),
		wide("REVISION", b.Revision),
		wide("DIGEST", b.Digest),
		wide("BOOTED", b.Booted),
		wide("PROVISIONED", printer.Age(b.ProvisionedAt, now)).aged(printer.Stamp(b.ProvisionedAt)),
		wide("AWAITS", Awaited(c.Status.Awaits, now)).aged(awaitedKey(c.Status.Awaits)),
		wide("UID", c.Metadata.UID),
	}
}

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

func maintenanceColumns(m *resource.Maintenance, now time.Time) []cell {
	approval := ""
	if w := m.Status.Approval; w != nil {
		if approval = "approved by " + w.By; w.Denied {
			approval = "denied by " + w.By
		}
	}
	return []cell{
		col("NAME", m.Metadata.Name),
		col("SERVER", m.Spec.ServerRef.Name),
		col("STATE", string(m.Status.State)),
		col("POLICY", string(m.Spec.Policy)),
		col("PRIORITY", strconv.Itoa(m.Spec.Priority)),
		col("POWER", string(m.Spec.ServerPower)),
		col("AGE", printer.Age(m.Metadata.CreatedAt, now)).aged(""),
		col("REASON", m.Spec.Reason),
		wide("APPROVAL", approval),
		wide("IMAGE", maintenanceSource(m)),
		wide("MESSAGE", m.Status.Message),
	}
}

// maintenanceSource is what a maintenance boots, or how many settings of firmware it writes.
func maintenanceSource(m *resource.Maintenance) string {
	if n := len(m.Spec.Firmware); n > 0 {
		return printer.Plural(n, "firmware setting")
	}
	return bootSource(m.Spec.Boot.Image, m.Spec.Boot.ImageFrom, m.Spec.Boot.BootEnv)
}

// maintenanceFacts are its place in the queue, while it has one.
func maintenanceFacts(m *resource.Maintenance) []printer.Fact {
	if m.Status.Position == 0 {
		return nil
	}
	return []printer.Fact{{"Position", fmt.Sprint(m.Status.Position)}}
}

// bootSource is what a claim or a maintenance boots.
func bootSource(image string, from *resource.ImageFrom, env *resource.Ref) string {
	switch {
	case env != nil:
		return resource.EnvImagePrefix + env.Name
	case from != nil:
		return groupPrefix + from.Group
	}
	return image
}
