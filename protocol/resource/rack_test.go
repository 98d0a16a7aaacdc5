package resource

import (
	"testing"
	"time"

	"rackboot/protocol"
)

func TestSafeStopOfRack(t *testing.T) {
	for name, row := range map[string]struct {
		spec  *SafeStopSpec
		wrong string
	}{
		"none":                     {nil, ""},
		"defaults":                 {&SafeStopSpec{}, ""},
		"stop image":               {&SafeStopSpec{NetworkFirst: NetworkFirstStopImage, PowerOffAfter: protocol.Duration(time.Minute)}, ""},
		"another word":             {&SafeStopSpec{NetworkFirst: "halt"}, "spec.safeStop.networkFirst"},
		"power-off of no image":    {&SafeStopSpec{PowerOffAfter: protocol.Duration(time.Minute)}, "spec.safeStop.powerOffAfter"},
		"a power-off much later":   {&SafeStopSpec{NetworkFirst: NetworkFirstStopImage, PowerOffAfter: protocol.Duration(25 * time.Hour)}, "spec.safeStop.powerOffAfter"},
		"believed before it POSTs": {&SafeStopSpec{BelieveAfter: protocol.Duration(time.Millisecond)}, "spec.safeStop.believeAfter"},
	} {
		r := Rack{Header: Header{Metadata: Metadata{Name: "r"}}, Spec: RackSpec{SafeStop: row.spec}}
		r.Default()
		f := r.Validate()
		if (row.wrong == "") != (len(f) == 0) || row.wrong != "" && f[0].Path != row.wrong {
			t.Errorf("%s: %v", name, f)
		}
		if s := r.Spec.SafeStop; s != nil && row.wrong == "" && (s.NetworkFirst == "" || s.BelieveAfter == 0) {
			t.Errorf("%s: without its defaults: %+v", name, s)
		}
	}
}
