package settings

import (
	"fmt"
	"slices"
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
)

// TestDriftTable compares the table above isDrift with it.
func TestDriftTable(t *testing.T) {
	table := doctable.Of(t, "drift.go", "isDrift")
	all := append(protocol.FirmwareHindrances(), "")
	for _, h := range all {
		word := string(h)
		if h == "" {
			word = "none"
		}
		want, row := table.Answer(word)
		if row < 0 || (want[0] == "yes") != isDrift(h) {
			t.Errorf("%s: %v, the table says %v", word, isDrift(h), want)
		}
	}
	if len(all) != len(table.Rows) {
		t.Errorf("%d hindrances, %d rows", len(all), len(table.Rows))
	}
}

// Values are in no condition: one may be a URL with somebody's token.
func TestDriftNamesOnly(t *testing.T) {
	changes := []protocol.FirmwareChange{
		{Setting: "http", Where: "IPv4HTTPSupport_00F5", Today: "Disabled", Wanted: "Enabled"},
		{Setting: "attributes.A", Where: "A", Today: "x", Hindrance: protocol.FirmwareReadOnly},
		{Setting: "bootOrder", Hindrance: protocol.FirmwareNoOption},
		{Setting: "secureBoot", Hindrance: protocol.FirmwareNotShown},
	}
	if got, want := Drift(changes), []string{"http (IPv4HTTPSupport_00F5)", "attributes.A", "bootOrder"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	changes = nil
	for i := range maxDrift + 3 {
		changes = append(changes, protocol.FirmwareChange{Setting: fmt.Sprint(i)})
	}
	if got := Drift(changes); len(got) != maxDrift+1 || got[maxDrift] != "and 3 more" {
		t.Errorf("%q", got)
	}
}
