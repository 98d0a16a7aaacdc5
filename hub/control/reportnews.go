package control

import (
	"reflect"
	"time"

	"rackboot/protocol"
)

// sameNews reports whether two reports of a server say the same of everything that a decision
// depends on. When a read was made, and what the agent alone decides by, may differ.
func sameNews(a, b *protocol.ServerReport) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := *a, *b
	for _, r := range []*protocol.ServerReport{&x, &y} {
		r.ReadAge = 0
		o := &r.Observation
		o.ReadAt, o.StartedAt = time.Time{}, time.Time{}
		o.BootProgress, o.OEMProgress, o.SystemState, o.LastResetTime, o.PowerLog = "", "", "", "", ""
	}
	return reflect.DeepEqual(&x, &y)
}
