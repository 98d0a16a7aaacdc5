package table

import (
	"time"

	"rackboot/protocol/resource"
)

// groupPrefix begins what a claim boots whose image is a group's, where it is shown.
const groupPrefix = "group:"

func claim(c *resource.Claim, now time.Time) []filled {
	stands := c.Status.Phase
	if c.Metadata.DeletedAt != nil && stands == "" {
		stands = resource.PhaseReleasing
	}
	var b resource.ClaimBoot
	if c.Status.Boot != nil {
		b = *c.Status.Boot
	}
	provisioned := wide("PROVISIONED", "When what it boots was proved to be installed.", since(b.ProvisionedAt))
	provisioned.Event = true
	return []filled{
		name(c),
		phase(stands),
		column("SERVER", "The server that it has.", text(c.Status.Server)),
		column("POWER", "The power that its server is to have.", text(c.Spec.Power)),
		column("IMAGE", "What it boots.", text(bootSource(c.Spec.Image, c.Spec.ImageFrom, c.Spec.BootEnv))),
		conditions(c.Status.Conditions, now),
		age(c),
		wide("FIRST-BOOT", "What it boots first.", text(c.Spec.BootPolicy.FirstBoot)),
		wide("EVIDENCE", "The class of the evidence of what has booted.", text(c.Status.EvidenceClass)),
		wide("SECRETS", "The way that its user data goes.", text(c.Status.Secrets)),
		wide("VERSION", "The version of the image.", text(b.Version)),
		wide("REVISION", "The revision of the group that it boots.", text(b.Revision)),
		wide("DIGEST", "The digest of the image as it was resolved.", text(b.Digest)),
		wide("BOOTED", "The digest of what has booted.", text(b.Booted)),
		provisioned,
		wide("AWAITS", "What its server waits for.", Waits(c.Status.Awaits)),
		wide("UID", "Its uid, by which one that was made anew is another.", text(c.Metadata.UID)),
	}
}

func maintenance(m *resource.Maintenance, _ time.Time) []filled {
	approval := ""
	if w := m.Status.Approval; w != nil {
		if approval = "approved by " + w.By; w.Denied {
			approval = "denied by " + w.By
		}
	}
	return []filled{
		name(m),
		column("SERVER", "The server that it is of.", text(m.Spec.ServerRef.Name)),
		column("STATE", "Where it stands.", text(m.Status.State)),
		column("POLICY", "Who must agree before a claimed server is taken.", text(m.Spec.Policy)),
		column("PRIORITY", "The highest has its turn first.", number(m.Spec.Priority)),
		column("POWER", "The power that its server has meanwhile.", text(m.Spec.ServerPower)),
		age(m),
		column("REASON", "Why it is.", text(m.Spec.Reason)),
		wide("APPROVAL", "Who has approved it, or denied it.", text(approval)),
		wide("IMAGE", "What it boots, or how many settings of firmware it writes.", text(maintenanceSource(m))),
		wide("MESSAGE", "What is said of it.", text(m.Status.Message)),
	}
}

// maintenanceSource is what a maintenance boots, or how many settings of firmware it writes.
func maintenanceSource(m *resource.Maintenance) string {
	if n := len(m.Spec.Firmware); n > 0 {
		return plural(n, "firmware setting")
	}
	return bootSource(m.Spec.Boot.Image, m.Spec.Boot.ImageFrom, m.Spec.Boot.BootEnv)
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
