package redfish

import (
	"encoding/json"
	"testing"
)

// FuzzNewest: whatever a log holds, its newest entry about power has a name that can be
// printed, and is the same for the same log.
func FuzzNewest(f *testing.F) {
	f.Add([]byte(`{"Members":[{"Id":"P1","MessageId":"Event.1.0.SystemPowerAction","Created":"2026-11-20T08:00:00Z"}]}`))
	f.Add([]byte(`{"Members":[{"Id":"1","MessageId":"iLOEvents.3.1.ServerPoweredOn"},{"Id":2,"MessageId":null}]}`))
	f.Add([]byte(`{"Members":[{"Id":"27","MessageId":"Event.1.0.SystemPowerAction","Message":"[MEL-0051] The system was powered reset successfully.","MessageArgs":null,"Created":null}]}`))
	f.Add([]byte(`{"Members":{"Id":"1"}}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var o object
		if json.Unmarshal(raw, &o) != nil {
			return
		}
		name := newest(&o)
		if name != printable(name) || newest(&o) != name {
			t.Errorf("%q", name)
		}
	})
}
