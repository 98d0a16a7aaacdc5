package cli

import (
	"slices"
	"testing"
	"time"

	"rackboot/protocol/resource"
)

// What describe says of a maintenance: its place in the queue while it has one.
func TestMaintenanceFacts(t *testing.T) {
	m := &resource.Maintenance{Spec: resource.MaintenanceSpec{ServerRef: resource.Ref{Name: "n1"}, Reason: "BIOS 2.1"}}
	m.Metadata.Name = "m1"
	m.Default()
	for position, want := range map[int]bool{0: false, 3: true} {
		m.Status.Position = position
		v := objectsView(resource.KindMaintenance, []resource.Object{m}, time.Now())
		v.single = true
		got := facts(v, m)
		if is := slices.Contains(got, fact{"Position", "3"}); is != want {
			t.Errorf("position %d: %+v", position, got)
		}
		if slices.ContainsFunc(got, func(f fact) bool { return f.name == "Position" }) != want {
			t.Errorf("position %d: %+v", position, got)
		}
	}
}
