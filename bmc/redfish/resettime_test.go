package redfish

import "testing"

func TestLastResetTimes(t *testing.T) {
	for in, want := range map[string]bool{
		"2024-06-11T00:14:47-05:00": true, "2024-06-11T00:14:47": true, "0000-00-00T00:00:00+00:00": false,
		"1970-01-01T00:00:12+00:00": false, "": false, "N/A": false, "yesterday, at noon": false,
	} {
		if got := plausible(in); got != want {
			t.Errorf("%q is %v", in, got)
		}
	}
}
