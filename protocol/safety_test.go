package protocol

import (
	"strings"
	"testing"
	"time"
)

// TestDetects: what is said of each class names what goes unseen, and within which time
// the rest is noticed.
func TestDetects(t *testing.T) {
	const unseen = "goes unseen"
	for _, row := range []struct {
		d      Detection
		words  string
		unseen bool
	}{
		{Detection{Class: DetectReset}, "within 15s by LastResetTime", false},
		{Detection{Class: DetectReset, Stream: "/sse"}, "mostly at once by the BMC's events", false},
		{Detection{Class: DetectLog}, "that the BMC logs, within 15s", false},
		{Detection{Class: DetectEvents, Subscriptions: "/s"}, "whose event is lost", true},
		{Detection{Class: DetectPoll}, "between two polls", true},
		{Detection{}, "not known yet", false},
	} {
		if got := row.d.Says(15 * time.Second); !strings.Contains(got, row.words) || strings.Contains(got, unseen) != row.unseen {
			t.Errorf("%s: %q", row.d.Class, got)
		}
	}
	if got := (Detection{Class: DetectPoll, PollInterval: 10 * time.Second}).Says(0); !strings.Contains(got, "within 10s") {
		t.Errorf("%q", got)
	}
}

func TestSafeStopOfRack(t *testing.T) {
	for name, row := range map[string]struct {
		spec  *SafeStopSpec
		wrong string
	}{
		"none":                     {nil, ""},
		"defaults":                 {&SafeStopSpec{}, ""},
		"stop image":               {&SafeStopSpec{NetworkFirst: NetworkFirstStopImage, PowerOffAfter: Duration(time.Minute)}, ""},
		"another word":             {&SafeStopSpec{NetworkFirst: "halt"}, "spec.safeStop.networkFirst"},
		"power-off of no image":    {&SafeStopSpec{PowerOffAfter: Duration(time.Minute)}, "spec.safeStop.powerOffAfter"},
		"a power-off much later":   {&SafeStopSpec{NetworkFirst: NetworkFirstStopImage, PowerOffAfter: Duration(25 * time.Hour)}, "spec.safeStop.powerOffAfter"},
		"believed before it POSTs": {&SafeStopSpec{BelieveAfter: Duration(time.Millisecond)}, "spec.safeStop.believeAfter"},
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

func TestSafeStopTravels(t *testing.T) {
	if in := SafeStopOf(nil); in != nil {
		t.Errorf("none travels as %+v", in)
	}
	spec := SafeStopSpec{NetworkFirst: NetworkFirstStopImage, PowerOffAfter: Duration(time.Minute), BelieveAfter: Duration(time.Hour)}
	if in := SafeStopOf(&spec); *in != (SafeStopIntent{NetworkFirstStopImage, time.Minute, time.Hour}) {
		t.Errorf("%+v", in)
	}
}
