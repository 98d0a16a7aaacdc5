package redfish

import "testing"

func TestDateTime(t *testing.T) {
	for _, row := range [][3]string{
		{"2026-11-20T08:00:00Z", "", "2026-11-20T08:00:00Z"},
		{"2026-11-20T08:00:00+02:00", "+02:00", "2026-11-20T06:00:00Z"},
		{"2026-11-20T08:00:00", "+02:00", "2026-11-20T06:00:00Z"},
		{"2026-11-20T08:00:00", "", ""},
		{"", "+02:00", ""},
		{"now", "", ""},
	} {
		if got := dateTime(row[0], row[1]); got != row[2] {
			t.Errorf("%q, %q: %q, want %q", row[0], row[1], got, row[2])
		}
	}
}
