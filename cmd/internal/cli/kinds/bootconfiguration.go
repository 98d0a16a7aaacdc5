package kinds

import (
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

func bootConfigurationColumns(o *resource.BootConfiguration, now time.Time) []cell {
	provisioned, revision := "", ""
	if o.Spec.Group != "" {
		revision = resource.GroupRevisionName(o.Spec.Group, o.Spec.Revision)
	}
	if p := o.Status.Provisioned; p != nil {
		provisioned = printer.Stamp(&p.At)
	} else if w := o.Status.Adopted; w != nil {
		provisioned = "by the word of " + w.By
	}
	return []cell{
		col("NAME", o.Metadata.Name),
		col("SERVER", o.Spec.Server),
		col("PURPOSE", string(o.Spec.Owner.Kind.Or())),
		col("OWNER", o.Spec.Owner.Name),
		col("STATE", string(o.Status.State)),
		col("PROVISIONED", provisioned),
		conditionsCell(o.Status.Conditions, now),
		wide("EVIDENCE", string(o.Status.EvidenceClass)),
		wide("SECRETS", string(o.Status.Secrets)),
		wide("IMAGE", o.Spec.Image.Reference),
		wide("DIGEST", o.Spec.Image.Digest),
		wide("REVISION", revision),
	}
}
