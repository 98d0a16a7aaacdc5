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
