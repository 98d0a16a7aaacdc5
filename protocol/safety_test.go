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
