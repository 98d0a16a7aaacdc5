package control

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/hub/approval"
	"rackboot/hub/store"
	"rackboot/hub/store/storetest"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func settingsOf(name, value string) *resource.Maintenance {
	m := &resource.Maintenance{Spec: resource.MaintenanceSpec{
		ServerRef: resource.Ref{Name: "n1"}, Reason: "HTTP boot", Firmware: []resource.FirmwareWanted{{Setting: "http", Where: "Http", Value: value}},
	}}
	m.Metadata.Name = name
	m.Default()
	return m
}

// ran is a report of the run for an owner.
func ran(uid string, st resource.FirmwareStage) resource.ServerReport {
	r := off("n1")
	r.OwnerUID = uid
	r.Firmware = &resource.FirmwareRun{OwnerUID: uid, Stage: st, Passes: 1, Settings: []resource.FirmwareSet{{
		FirmwareWanted: resource.FirmwareWanted{Setting: "http", Where: "Http", Value: "https://new?token=n"}, Before: "https://old?token=o", Standing: resource.FirmwareWritten,
	}}}
	return r
}

// What the maintenance wants travels to the agent; what was before is kept at the server as soon as it is reported,
// and the maintenance ends by itself once nothing more is written. Nobody is shown a value.
func TestSettingsOfAMaintenance(t *testing.T) {
	b, m := modernSite(t)
	b.apply(storetest.Claim("c1", "n1"))
	b.settles(m)
	b.apply(settingsOf("m1", "https://new?token=n"))
	b.settles(m)
	if s := b.maintenance("m1").Status; s.State != resource.MaintenanceAwaitingApproval {
		t.Fatalf("%+v", s)
	}
	if _, err := b.store.Maintenances.Judge(ctx(t), "m1", resource.MaintenanceApproval{By: "ann", Reason: "go on"}); err != nil {
		t.Fatal(err)
	}
	b.settles(m)
	in, uid := m.intent("n1"), b.maintenance("m1").Metadata.UID
	if in.Owner.UID != uid || in.Power != resource.WantOn || in.Boot != nil || in.Settings == nil || in.Settings.Want[0].Value != "https://new?token=n" {
		t.Fatalf("%+v", in)
	}
	m.reports(ran(uid, resource.FirmwareBooting))
	b.settles(m)
	if r := b.storedServer("n1").Status.Settings; r == nil || r.Settings[0].Before != "https://old?token=o" || b.maintenance("m1").Metadata.DeletedAt != nil {
		t.Fatalf("%+v", r)
	}
	revision := b.storedServer("n1").Metadata.Revision
	b.settles(m)
	if b.storedServer("n1").Metadata.Revision != revision {
		t.Error("the same report is written again")
	}
	m.reports(ran(uid, resource.FirmwareSucceeded))
	b.settles(m)
	if b.maintenance("m1").Metadata.DeletedAt == nil || !m.intent("n1").Releasing {
		t.Fatalf("%+v", m.intent("n1"))
	}
	gone := ran(uid, resource.FirmwareSucceeded)
	gone.Released = true
	m.reports(gone)
	b.settles(m)
	if _, err := store.Get[*resource.Maintenance](b.store.Objects, "m1"); protocol.CodeOf(err) != protocol.CodeNotFound {
		t.Errorf("%v", err)
	}
	s := b.storedServer("n1")
	if r := s.Status.Settings; r == nil || r.Stage != resource.FirmwareSucceeded || len(r.Back()) != 1 || r.Back()[0].Value != "https://old?token=o" {
		t.Errorf("%+v", r)
	}
	shown := b.storedServer("n1")
	b.control.Status.Decorate(shown)
	own := settingsOf("m1", "https://new?token=n")
	b.control.Status.Decorate(own)
	for _, x := range []string{asText(t, shown), asText(t, own)} {
		if strings.Contains(x, "token=") {
			t.Errorf("a value is shown: %s", x)
		}
	}
	for _, e := range b.control.Events.After(0, 1000) {
		if strings.Contains(e.Message, "token=") {
			t.Errorf("a value in %+v", e)
		}
	}
}

// A hub that dies when it has kept what was before, or has told the maintenance to end, goes on from there: nothing that
// was kept is lost, and the maintenance ends.
func TestSettingsAfterACrash(t *testing.T) {
	for _, point := range []string{"hub.maintenance.settings", "hub.maintenance.settled"} {
		b, m := modernSite(t)
		b.apply(settingsOf("m1", "https://new?token=n"))
		b.settles(m)
		uid := b.maintenance("m1").Metadata.UID
		m.reports(ran(uid, resource.FirmwareSucceeded))
		b.dies(point, func() { b.settles(m) })
		m.connects()
		m.reports(ran(uid, resource.FirmwareSucceeded))
		b.settles(m)
		if r := b.storedServer("n1").Status.Settings; r == nil || r.OwnerUID != uid || r.Settings[0].Before != "https://old?token=o" {
			t.Errorf("%s: %+v", point, r)
		}
		if b.maintenance("m1").Metadata.DeletedAt == nil || !m.intent("n1").Releasing {
			t.Errorf("%s: the maintenance goes on", point)
		}
	}
}

// An agent that cannot write settings is sent none, and a server that nothing may stop is left alone.
func TestSettingsWait(t *testing.T) {
	b, m := modernSite(t)
	m.caps = slices.DeleteFunc(message.Capabilities(), func(c message.Capability) bool { return c == message.CapFirmwareWrite })
	m.connects()
	b.apply(settingsOf("m1", "On"))
	b.settles(m)
	if s := b.maintenance("m1").Status; s.State != resource.MaintenanceQueued || !strings.Contains(s.Message, "AgentTooOld: it lacks firmware.write") || m.intent("n1").Settings != nil {
		t.Fatalf("%+v", s)
	}
	m.caps = message.Capabilities()
	m.connects()
	srv := b.storedServer("n1")
	srv.Spec.DisablePowerOff = true
	if err := b.store.Objects.Put(ctx(t), srv); err != nil {
		t.Fatal(err)
	}
	b.settles(m)
	if s := b.maintenance("m1").Status; s.State != resource.MaintenanceQueued || !strings.Contains(s.Message, "spec.disablePowerOff") {
		t.Fatalf("%+v", s)
	}
}

// Where the class needs an approval, nothing is sent before it is there; it names the settings. What is denied is not
// asked for again.
func TestSettingsApproved(t *testing.T) {
	for _, deny := range []bool{false, true} {
		b, m := modernSite(t)
		b.policy = approval.Policy{resource.ApproveFirmware: 1}
		b.restart()
		m.connects()
		b.apply(settingsOf("m1", "On"))
		for range 3 {
			b.settles(m)
		}
		if s := b.maintenance("m1").Status; s.State != resource.MaintenanceQueued || !strings.Contains(s.Message, "rackctl approve list") || m.intent("n1").Settings != nil {
			t.Fatalf("%+v", s)
		}
		r := b.one(resource.ApprovalPending)
		want := resource.ApprovedBoot{Server: "n1", Owner: b.maintenance("m1").Metadata.UID, Settings: resource.SettingsDigest(settingsOf("m1", "On").Spec.Firmware)}
		if r.Class != resource.ApproveFirmware || len(r.Boots) != 1 || r.Boots[0] != want {
			t.Fatalf("%+v", r)
		}
		if deny {
			if _, err := b.control.Approvals.Deny(ctx(t), r.ID, "alice", "not this one", true); err != nil {
				t.Fatal(err)
			}
		} else if _, err := b.grant(r, "alice"); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			b.settles(m)
		}
		if s := b.maintenance("m1").Status; (s.State == resource.MaintenanceDenied) != deny || (m.intent("n1").Settings == nil) != deny || len(b.approvals(resource.ApprovalPending)) > 0 {
			t.Errorf("denied %t: %+v", deny, s)
		}
	}
}

// What was approved and ended before the agent began is asked for again where the agent says so.
func TestSettingsTravel(t *testing.T) {
	b, m := modernSite(t)
	b.knowsDestructive(m, false)
	b.restart()
	m.connects()
	b.apply(settingsOf("m1", "On"))
	for range 3 {
		b.settles(m)
	}
	if _, err := b.grant(b.one(resource.ApprovalPending), "alice"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		b.settles(m)
	}
	if got := m.carried(); len(got) != 1 || got[0].Class != resource.ApproveFirmware || len(got[0].Validate()) > 0 {
		t.Fatalf("carried: %+v", got)
	}
	b.now = b.now.Add(time.Hour + time.Second)
	waits := off("n1")
	waits.OwnerUID, waits.Conditions = b.maintenance("m1").Metadata.UID, []resource.ConditionState{{Code: resource.CondFirmwareNotApproved}}
	m.connects()
	m.reports(waits, off("n2"))
	b.pass()
	b.pass()
	if r := b.one(resource.ApprovalPending); r.Boots[0].Owner != waits.OwnerUID {
		t.Errorf("%+v", r)
	}
}

// storedServer is a server as it is stored.
func (b *bench) storedServer(name string) *resource.Server {
	b.t.Helper()
	s, err := store.Get[*resource.Server](b.store.Objects, name)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

func asText(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
