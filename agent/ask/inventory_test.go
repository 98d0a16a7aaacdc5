package ask

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
)

// slowBIOS answers an inventory at once, and for its firmware waits as long as it may.
type slowBIOS struct{}

func (slowBIOS) Inventory(context.Context) (protocol.Inventory, error) {
	return protocol.Inventory{SystemURI: "/redfish/v1/Systems/1"}, nil
}

func (slowBIOS) Firmware(ctx context.Context, _ []string) (protocol.Firmware, error) {
	<-ctx.Done()
	return protocol.Firmware{}, protocol.Errorf(protocol.CodeTimeout, "read", "no answer")
}

// An inventory does not come too late because its firmware takes long.
func TestInventoryInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), askTimeout)
		defer cancel()
		began := time.Now()
		names := []string{"BootMode"}
		inv, err := inventory(ctx, slowBIOS{}, message.Ask{Firmware: true, Attributes: names})
		if took := time.Since(began); err != nil || took != askTimeout-answerMargin {
			t.Errorf("%v after %s", err, took)
		}
		if f := inv.Firmware; f == nil || !slices.Equal(f.Asked, names) || f.BIOS || len(inv.Problems) != 1 || inv.Problems[0].Code != protocol.CodeTimeout {
			t.Errorf("%+v", inv)
		}
		if inv, err := inventory(ctx, slowBIOS{}, message.Ask{}); err != nil || inv.Firmware != nil {
			t.Errorf("nobody asked for it: %+v, %v", inv, err)
		}
	})
}
