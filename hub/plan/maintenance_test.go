package plan

import (
	"fmt"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func word(is bool) []string {
	if is {
		return []string{"yes"}
	}
	return []string{"no"}
}

func TestMaintenanceTable(t *testing.T) {
	doctable.Of(t, "maintenance.go", "maintenanceRule").Hold(t, [][]string{
		doctable.YesNo(), doctable.YesNo(), doctable.Words(ImageAsked, ImageFailing, ImageInvalid, ImageReady), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(),
	}, func(in []string) []string {
		return doctable.Words(maintenanceRule(in[0] == "yes", in[1] == "yes", ImageState(in[2]), in[3] == "yes", in[4] == "yes", in[5] == "yes"))
	})
	doctable.Of(t, "maintenance.go", "agreed").Hold(t, [][]string{doctable.YesNo(), doctable.Words(resource.MaintenancePolicies()...), doctable.YesNo()},
		func(in []string) []string {
			return word(agreed(in[0] == "yes", resource.MaintenancePolicy(in[1]), in[2] == "yes"))
		})
}

func TestOwnerTable(t *testing.T) {
	doctable.Of(t, "owner.go", "ownerRule").Hold(t, [][]string{doctable.Words(stanceActive, stanceEnds, stanceNone), doctable.Words(stanceBound, stanceEnds, stanceNone), doctable.Words(stanceActive, stanceEnds, stanceNone)},
		func(in []string) []string {
			owner, releases := ownerRule(stance(in[0]), stance(in[1]), stance(in[2]))
			if owner == "" {
				owner = "none"
			}
			return append(doctable.Words(owner), word(releases)...)
		})
}

func maintenanceOf(name string, priority int, at int) *resource.Maintenance {
	m := &resource.Maintenance{Spec: resource.MaintenanceSpec{ServerRef: resource.Ref{Name: "s1"}, Priority: priority, Reason: "BIOS", Boot: resource.MaintenanceBoot{Image: "r/fw:1"}}}
	when := time.Date(2026, 11, 20, 9, at, 0, 0, time.UTC)
	m.Metadata.Name, m.Metadata.UID, m.Metadata.CreatedAt = name, "uid-"+name, &when
	m.Default()
	return m
}

// maintained is a fleet of one claimed server and maintenances of it.
func maintained(ms ...*resource.Maintenance) Fleet {
	rack := &resource.Rack{}
	rack.Metadata.Name, rack.Status.Agent = "r0", "agent"
	bmc := &resource.BMC{Spec: resource.BMCSpec{RackRef: resource.Ref{Name: "r0"}}}
	bmc.Metadata.Name = "b1"
	srv := &resource.Server{Spec: resource.ServerSpec{BMCRef: resource.Ref{Name: "b1"}}}
	srv.Metadata.Name = "s1"
	claim := &resource.Claim{Spec: resource.ClaimSpec{Power: resource.WantOn}, Status: resource.ClaimStatus{Server: "s1"}}
	claim.Metadata.Name, claim.Metadata.UID = "c1", "uid-c1"
	cfg := &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{Server: "s1", Owner: resource.Owner{Kind: resource.PurposeClaim, UID: "uid-c1"}}}
	return Fleet{
		Racks: []*resource.Rack{rack}, BMCs: []*resource.BMC{bmc}, Servers: []*resource.Server{srv}, Claims: []*resource.Claim{claim},
		Configs: []*resource.BootConfiguration{cfg}, Maintenances: ms, Peers: map[string]Peer{"agent": {Incarnation: "i", Capabilities: message.Capabilities()}},
	}
}

// The queue is by priority, then age; one maintenance has a server at a time, and none
// that has it is pushed aside.
func TestMaintenanceQueue(t *testing.T) {
	ready := map[string]BootSeen{}
	for _, n := range []string{"old", "young", "urgent", "asks"} {
		ready[n] = BootSeen{State: ImageReady}
	}
	old, young, urgent, asks := maintenanceOf("old", 0, 1), maintenanceOf("young", 0, 2), maintenanceOf("urgent", 5, 3), maintenanceOf("asks", 9, 0)
	all := []*resource.Maintenance{asks, old, urgent, young}
	for _, m := range all[1:] {
		m.Spec.Policy = resource.MaintenanceEnforced
	}
	want := func(when string, states ...resource.MaintenanceState) {
		t.Helper()
		got := Maintain(maintained(all...), ready)
		for i, m := range all {
			if w := got[m.Metadata.Name]; w.State != states[i] || (w.Message == "") != (w.State == resource.MaintenanceActive) {
				t.Errorf("%s: %s is %+v, want %s", when, m.Metadata.Name, w, states[i])
			}
		}
	}
	const active, queued, awaits = resource.MaintenanceActive, resource.MaintenanceQueued, resource.MaintenanceAwaitingApproval
	want("to begin with", awaits, queued, active, queued)
	urgent.Status.State = active
	asks.Status.Approval = &resource.MaintenanceApproval{By: "ann", Reason: "now"}
	want("while urgent has it", queued, queued, active, queued)
	all = []*resource.Maintenance{asks, old, young}
	asks.Status.Approval.Denied = true
	want("asks is denied", resource.MaintenanceDenied, active, queued)
	ready["old"] = BootSeen{State: ImageInvalid, Message: "no UKI"}
	want("old cannot be booted", resource.MaintenanceDenied, resource.MaintenanceError, active)
	ready["old"] = BootSeen{State: ImageAsked}
	want("old is looked up", resource.MaintenanceDenied, queued, queued)

	f := maintained(young)
	f.Peers = map[string]Peer{"agent": {Incarnation: "i", Capabilities: few()}}
	if w := Maintain(f, ready)["young"]; w.State != queued || w.Message != "AgentTooOld: it lacks boot.purposes" {
		t.Errorf("an old agent: %+v", w)
	}
	f = maintained(young)
	now := time.Now()
	f.Claims[0].Metadata.DeletedAt = &now
	if w := Maintain(f, ready)["young"]; w.State != queued || w.Message != "claim c1 ends first" {
		t.Errorf("the claim ends: %+v", w)
	}
}

// The owner's intent (seed 000, Maintenance lifecycle): the claim's configuration stays,
// and is not what is booted while the maintenance has the server.
func TestIntentByOwner(t *testing.T) {
	now := time.Now()
	m := maintenanceOf("m1", 0, 0)
	f := maintained(m)
	own := &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{Server: "s1", Owner: resource.Owner{Kind: resource.PurposeMaintenance, UID: "uid-m1"}}}
	f.Configs = append(f.Configs, own)
	say := func() string {
		in := Intent(f, f.Servers[0])
		boot := "nothing"
		if in.Boot != nil {
			boot = in.Boot.Owner.UID
		}
		return fmt.Sprintf("%s %q %s releasing %t cycle %t boots %s", in.Owner.UID, in.Owner.Kind, in.Power, in.Releasing, in.PowerCycle, boot)
	}
	for _, row := range []struct {
		when   string
		change func()
		want   string
	}{
		{"queued", func() {}, `uid-c1 "claim" On releasing false cycle false boots uid-c1`},
		{"active", func() { m.Status.State = resource.MaintenanceActive }, `uid-m1 "maintenance" On releasing false cycle true boots uid-m1`},
		{"kept off", func() { m.Spec.ServerPower = resource.WantOff }, `uid-m1 "maintenance" Off releasing false cycle true boots uid-m1`},
		{"claim deleted under it", func() { f.Claims[0].Metadata.DeletedAt = &now }, `uid-m1 "maintenance" Off releasing false cycle true boots uid-m1`},
		{"it ends", func() { m.Metadata.DeletedAt = &now }, `uid-m1 "maintenance" Off releasing true cycle true boots nothing`},
		{"it has ended, and the claim ends", func() { f.Maintenances = nil }, `uid-c1 "claim" Off releasing true cycle false boots nothing`},
		{"nobody", func() { f.Claims = nil }, ` ""  releasing false cycle false boots nothing`},
	} {
		row.change()
		if got := say(); got != row.want {
			t.Errorf("%s: %s; want %s", row.when, got, row.want)
		}
	}
}

// Firmware settings of so many servers of a rack are written at once, also where all begin in one turn.
func TestSettingsAtOnce(t *testing.T) {
	f, seen := maintained(), map[string]BootSeen{}
	f.Claims, f.Configs = nil, nil
	for i := range 2 * resource.MaxFirmwareAtOnce {
		name := fmt.Sprintf("w%02d", i)
		srv := &resource.Server{Spec: resource.ServerSpec{BMCRef: resource.Ref{Name: "b1"}}}
		srv.Metadata.Name = name
		f.Servers = append(f.Servers, srv)
		m := maintenanceOf(name, 0, i)
		m.Spec.ServerRef.Name, m.Spec.Boot, m.Spec.Firmware = name, resource.MaintenanceBoot{}, []resource.FirmwareWanted{{Setting: "a", Where: "a"}}
		if i == 0 {
			m.Status.State = resource.MaintenanceActive
		}
		f.Maintenances, seen[name] = append(f.Maintenances, m), BootSeen{State: ImageReady}
	}
	active := 0
	for name, w := range Maintain(f, seen) {
		switch {
		case w.State == resource.MaintenanceActive:
			active++
		case w.State != resource.MaintenanceQueued || w.Message != "firmware settings of 8 servers of rack r0 are being written":
			t.Errorf("%s: %+v", name, w)
		}
	}
	if active != resource.MaxFirmwareAtOnce {
		t.Errorf("%d are active", active)
	}
}
