package ask

import (
	"context"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/message"
)

// answerMargin is left for the answer when an inventory has taken long: without its firmware it is
// better than none.
const answerMargin = 10 * time.Second

// inventory reads what a system consists of, and how its firmware is set where the question wants it.
// What cannot be read of that, or not in time, is a problem of the inventory, and not its failure.
func inventory(ctx context.Context, r bmc.Inventorier, m message.Ask) (protocol.Inventory, error) {
	inv, err := r.Inventory(ctx)
	if err != nil || !m.Firmware {
		return inv, err
	}
	inv.Firmware = &protocol.FirmwareSettings{Asked: m.Attributes}
	reader, ok := r.(bmc.FirmwareReader)
	if !ok {
		return inv, nil
	}
	if at, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, at.Add(-answerMargin))
		defer cancel()
	}
	f, err := reader.Firmware(ctx, m.Attributes)
	if err != nil {
		inv.Problems = append(inv.Problems, protocol.PartProblem{Part: "Firmware", Code: protocol.CodeOf(err), Text: err.Error()})
		return inv, nil
	}
	for i := range f.Attributes {
		f.Attributes[i].Values = nil // they are many, and tell nothing of what is so
	}
	inv.Firmware = &f.FirmwareSettings
	return inv, nil
}
