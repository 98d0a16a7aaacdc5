package kinds

import (
	"slices"
	"testing"
	"time"

	"rackboot/cmd/internal/cli/printer"
	"rackboot/protocol/resource"
)

// What describe says of a maintenance: its place in the queue while it has one.
func TestMaintenanceFacts(t *testing.T) {
	m := &resource.Maintenance{Spec: resource.MaintenanceSpec{ServerRef: resource.Ref{Name: "n1"}, Reason: "BIOS 2.1"}}
	m.Metadata.Name = "m1"
	m.Default()
	for position, want := range map[int]bool{0: false, 3: true} {
		m.Status.Position = position
		_, got, _ := Describe(resource.KindMaintenance, m, time.Now())
		if is := slices.Contains(got, printer.Fact{"Position", "3"}); is != want {
			t.Errorf("position %d: %+v", position, got)
		}
		if slices.ContainsFunc(got, func(f printer.Fact) bool { return f[0] == "Position" }) != want {
			t.Errorf("position %d: %+v", position, got)
		}
	}
}
