package printer

import (
	"testing"
	"time"
)

func TestAge(t *testing.T) {
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	for ago, want := range map[time.Duration]string{
		-time.Minute: "0s", 5 * time.Second: "5s", 119 * time.Second: "119s", 2 * time.Minute: "2m",
		119 * time.Minute: "119m", 3 * time.Hour: "3h", 49 * time.Hour: "2d",
	} {
		at := now.Add(-ago)
		if got := Age(&at, now); got != want {
			t.Errorf("%s: %q, want %q", ago, got, want)
		}
	}
	if Age(nil, now) != "" || Age(&time.Time{}, now) != "" {
		t.Error("no time has an age")
	}
}
