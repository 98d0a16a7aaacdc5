package redfish

import (
	"testing"

	"rackboot/bmc"
	"rackboot/protocol"
)

func TestStands(t *testing.T) {
	x := protocol.FirmwareChange{Where: "A", Wanted: "new"}
	for _, tt := range []struct {
		now, waiting attributes
		want         bmc.FirmwareOutcome
	}{
		{attributes{"A": "old"}, attributes{}, bmc.FirmwareUnseen},
		{attributes{"A": "old"}, attributes{"A": "old"}, bmc.FirmwareUnseen}, // HPE and Supermicro show all
		{attributes{"A": "old"}, attributes{"A": "new"}, bmc.FirmwareWaits},
		{attributes{"A": "new"}, attributes{}, bmc.FirmwareInForce},
		{attributes{"A": "new"}, attributes{"A": "new"}, bmc.FirmwareInForce},
		{attributes{"A": "new"}, attributes{"A": "old"}, bmc.FirmwareUnseen}, // somebody is about to end it
		{attributes{}, attributes{}, bmc.FirmwareUnseen},
	} {
		if got := stands(x, tt.now, tt.waiting); got != tt.want {
			t.Errorf("%v, waiting %v: %s, want %s", tt.now, tt.waiting, got, tt.want)
		}
	}
}

func TestTyped(t *testing.T) {
	for _, tt := range []struct {
		today, value string
		want         any
	}{
		{`1`, "2", int64(2)},
		{`1`, "many", "many"},
		{`true`, "false", false},
		{`true`, "Off", "Off"},
		{`"1"`, "2", "2"},
		{`null`, "2", "2"},
		{``, "true", "true"},
	} {
		if got := typed([]byte(tt.today), tt.value); got != tt.want {
			t.Errorf("%s, %s: %#v", tt.today, tt.value, got)
		}
	}
}

// The number of a question may be left out, and nothing else of a name.
func TestQuestions(t *testing.T) {
	a := attributes{"Speed_0002": "", "Speed_0003": "", "Speed_More": "", "Quiet#0001": "", "Whole": "", "Whole_0001": "", "Speed_000212": ""}
	for name, want := range map[string]int{"Speed": 2, "Quiet": 1, "Whole": 1, "Spee": 0, "Speed_": 0, "": 0, "Speed_0003": 1} {
		if got := a.questions(name); len(got) != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}
