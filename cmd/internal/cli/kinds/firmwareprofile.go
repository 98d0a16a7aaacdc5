package kinds

import (
	"strconv"
	"strings"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

func firmwareProfileColumns(o *resource.FirmwareProfile, now time.Time) []cell {
	var order []string
	for _, c := range o.Spec.BootOrder {
		order = append(order, string(c))
	}
	return []cell{
		col("NAME", o.Metadata.Name),
		col("BOOT-ORDER", strings.Join(order, ",")),
		col("HTTP", string(o.Spec.HTTP)),
		col("PXE", string(o.Spec.PXE)),
		col("SECURE-BOOT", string(o.Spec.SecureBoot)),
		col("POWER-RESTORE", string(o.Spec.PowerRestore)),
		col("ATTRIBUTES", strconv.Itoa(len(o.Spec.Attributes))),
		col("AGE", printer.Age(o.Metadata.CreatedAt, now)).aged(""),
		wide("SELECTOR", o.Spec.Selector.String()),
	}
}
