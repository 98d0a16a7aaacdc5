package kinds

import (
	"fmt"
	"strconv"
	"time"

	"rackboot/cmd/internal/cli/condition"
	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

// groupPrefix begins what a claim boots whose image is a group's, where it is shown.
const groupPrefix = "group:"

func claimColumns(c *resource.Claim, now time.Time) []cell {
	phase := string(c.Status.Phase)
	if c.Metadata.DeletedAt != nil && phase == "" {
		phase = string(resource.PhaseReleasing)
	}
	return []cell{
		col("NAME", c.Metadata.Name),
		col("PHASE", phase),
		col("SERVER", c.Status.Server),
		col("POWER", string(c.Spec.Power)),
		col("IMAGE", bootSource(c.Spec.Image, c.Spec.ImageFrom, c.Spec.BootEnv)),
		col("CONDITIONS", condition.Codes(c.Status.Conditions, now)),
		col("AGE", printer.Age(c.Metadata.CreatedAt, now)),
		wide("FIRST-BOOT", string(c.Spec.BootPolicy.FirstBoot)),
		wide("EVIDENCE", string(c.Status.EvidenceClass)),
		wide("SECRETS", string(c.Status.Secrets)),
		wide("UID", c.Metadata.UID),
	}
}

// claimFacts are the boot policy of a claim, with what it says by default.
func claimFacts(c *resource.Claim) []printer.Fact {
	p := c.Spec.BootPolicy
	return []printer.Fact{{"Boot", string(p.Boot)}, {"OS reboot", string(p.OSReboot)}, {"Kernel arguments", c.Spec.KernelArgs}}
}

// ClaimBoot are what a claim boots as it was resolved, and what was proved of it: facts of its
// configuration, which has its name. Nil is none yet; one of another claim of that name says nothing.
func ClaimBoot(c *resource.Claim, cfg *resource.BootConfiguration) []printer.Fact {
	if cfg == nil || cfg.Spec.Owner.UID != c.Metadata.UID {
		return []printer.Fact{{"Image resolved", "not yet"}}
	}
	img := cfg.Spec.Image
	out := []printer.Fact{
		{"Image resolved", img.Reference},
		{"Image digest", img.Digest},
		{"Catalogue entry", img.BootImage},
		{"Boot state", string(cfg.Status.State)},
		{"Boot generation", strconv.FormatUint(cfg.Metadata.Generation, 10)},
	}
	if cfg.Spec.Group != "" {
		out = append(out, printer.Fact{"Group revision", resource.GroupRevisionName(cfg.Spec.Group, cfg.Spec.Revision)})
	}
	switch p := cfg.Status.Provisioned; {
	case p != nil:
		out = append(out, printer.Fact{"Provisioned", printer.Stamp(&p.At)}, printer.Fact{"Provisioned evidence", string(p.Evidence)},
			printer.Fact{"Digest booted", p.ImageDigest})
	case cfg.Status.Adopted != nil:
		out = append(out, printer.Fact{"Provisioned", "by the word of " + cfg.Status.Adopted.By})
	default:
		out = append(out, printer.Fact{"Provisioned", "not yet"})
	}
	return out
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
		col("AGE", printer.Age(m.Metadata.CreatedAt, now)),
		col("REASON", m.Spec.Reason),
		wide("APPROVAL", approval),
		wide("IMAGE", bootSource(m.Spec.Boot.Image, m.Spec.Boot.ImageFrom, m.Spec.Boot.BootEnv)),
		wide("MESSAGE", m.Status.Message),
	}
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
