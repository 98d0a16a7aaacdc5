package leasing

import (
	"testing"
	"time"

	"rackboot/protocol"
)

func TestFrozenIsBounded(t *testing.T) {
	f := newFrozen(freezeMax)
	now := time.Unix(0, 0)
	for i := range uint32(3 * freezeMax) {
		f.put(exchange{xid: i}, i, true, protocol.BootAnswer{}, now)
	}
	if len(f.entries) != freezeMax || f.order.Len() != freezeMax {
		t.Errorf("%d entries, %d in order", len(f.entries), f.order.Len())
	}
	f.put(exchange{xid: 1}, 1, true, protocol.BootAnswer{}, now.Add(FreezeFor))
	if len(f.entries) != 1 || f.order.Len() != 1 {
		t.Errorf("after expiry %d entries, %d in order", len(f.entries), f.order.Len())
	}
}
