package kinds

import (
	"strconv"
	"strings"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

func secretColumns(o *resource.Secret, now time.Time) []cell {
	return []cell{
		col("NAME", o.Metadata.Name),
		col("TYPE", string(o.Spec.Type)),
		col("VERSION", strconv.FormatUint(o.Status.Version, 10)),
		col("USED-BY", strings.Join(o.Status.UsedBy, ",")),
		conditionsCell(o.Status.Conditions, now),
		col("AGE", printer.Age(o.Metadata.CreatedAt, now)).aged(""),
		wide("CHANGED", printer.Stamp(o.Status.ChangedAt)),
		wide("DIGEST", o.Status.Digest),
	}
}
