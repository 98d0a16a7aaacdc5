package kinds

import (
	"strconv"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

func freezeColumns(o *resource.Freeze, now time.Time) []cell {
	until := "-"
	switch u := o.Spec.Until; {
	case o.Status.Over:
		until = "over"
	case u != nil:
		until = printer.Stamp(u)
	}
	return []cell{
		col("NAME", o.Metadata.Name),
		col("FROZEN", freezeOf(o)),
		col("SERVERS", strconv.Itoa(o.Status.Told)+"/"+strconv.Itoa(o.Status.Servers)),
		col("BY", o.Status.By),
		col("UNTIL", until),
		col("AGE", printer.Age(o.Metadata.CreatedAt, now)),
		col("REASON", o.Spec.Reason),
	}
}

// freezeOf is what a freeze is of.
func freezeOf(o *resource.Freeze) string {
	switch {
	case o.Spec.RackRef != nil:
		return "rack " + o.Spec.RackRef.Name
	case o.Spec.ServerSelector != nil:
		return o.Spec.ServerSelector.String()
	}
	return "all"
}
