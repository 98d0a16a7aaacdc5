package plan

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestOrphanTable(t *testing.T) {
	doctable.Of(t, "orphan.go", "orphanRule").HoldOne(t, [][]string{doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		if orphanRule(in[0] == "yes", in[1] == "yes") {
			return "yes"
		}
		return "no"
	})
}

// An orphaned server is shown as such with who, what and when; no selector takes it, and a claim that names
// it waits for a decision, though the server is Off.
func TestOrphaned(t *testing.T) {
	f := makeFleet(1, 2)
	name := f.Servers[0].Metadata.Name
	f.Servers[0].Metadata.Labels = map[string]string{"x": "y"}
	f.Reports = map[string]*resource.ServerReport{}
	left := &resource.UnreleasedReport{OwnerUID: "lost", Generation: 2, ImageDigest: "sha256:aa", At: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	f.Reports[name] = &resource.ServerReport{Server: name, Power: protocol.PowerOff, Observation: protocol.Observation{Power: protocol.PowerOff}, Unreleased: left}
	f.Claims = nil
	cond := Orphaned(f, name, f.Reports[name])
	if want := "its agent has a record of 2026-11-20T09:00:00Z that image sha256:aa is installed, for an owner lost that this hub does not know"; cond == nil || cond.Message != want || !cond.Since.Equal(left.At) {
		t.Errorf("it is shown as %+v", cond)
	}
	byLabel := &resource.Claim{Spec: resource.ClaimSpec{ServerSelector: &resource.Selector{MatchLabels: map[string]string{"x": "y"}}}}
	if Selects(f, byLabel, name) {
		t.Error("a selector takes it")
	}
	cl := &resource.Claim{Status: resource.ClaimStatus{Server: name}}
	cl.Metadata.UID = "new"
	if got := FirstBoot(f, cl); got != FirstAsk {
		t.Errorf("a claim that names it %s", got)
	}
	f.Reports[name].Unreleased = nil
	if cond := Orphaned(f, name, f.Reports[name]); cond != nil || !Selects(f, byLabel, name) || FirstBoot(f, cl) != FirstGoes {
		t.Errorf("without such a record it is %+v, %t, %s", cond, Selects(f, byLabel, name), FirstBoot(f, cl))
	}
}
