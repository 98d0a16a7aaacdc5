package decide

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func TestBootTable(t *testing.T) {
	doctable.Of(t, "bootapproval.go", "bootRule").Hold(t,
		[][]string{doctable.Words(approvalNone, resource.ApproveWipe, resource.ApproveReprovision), doctable.YesNo(), doctable.YesNo()},
		func(in []string) []string {
			return doctable.Words(bootRule(resource.ApprovalClass(in[0]), in[1] == "yes", in[2] == "yes"))
		})
}

func TestMayDiscardTable(t *testing.T) {
	doctable.Of(t, "bootapproval.go", "mayDiscardRule").HoldOne(t,
		[][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
			return yesNo(mayDiscardRule(in[0] == "yes", in[1] == "yes", in[2] == "yes"))
		})
	for _, row := range []struct {
		a    *Attempt
		want bool
	}{{nil, false}, {&Attempt{}, false}, {&Attempt{Order: Order{Cleared: ClearedBoot{Approval: "a1", Class: resource.ApproveReprovision}}}, false}, {&Attempt{Order: Order{Cleared: ClearedBoot{Approval: "a1", Class: resource.ApproveWipe}}}, true}} {
		if MayDiscard(true, true, row.a) != row.want {
			t.Errorf("%+v: %t", row.a, !row.want)
		}
	}
}

// wiping is a maintenance whose environment discards disks, at an agent that knows a
// destructive key.
func wiping(s *Snapshot) {
	s.Bulk.Key, s.Artefacts.Destructive = true, true
	in := *s.Intent
	boot := *in.Boot
	in.Owner.Name, in.Owner.Kind, in.PowerCycle = "m1", resource.PurposeMaintenance, true
	boot.Owner.Kind, boot.Owner.Name, boot.Env = resource.PurposeMaintenance, "m1", &message.EnvIntent{Name: "decommission"}
	in.Boot, s.Intent = &boot, &in
	g := *s.Grant
	g.Purpose, g.Repeat = resource.PurposeMaintenance, true
	s.Grant = &g
}

// permitting is an approval of the boot of the story.
func permitting(s Snapshot, class resource.ApprovalClass) resource.Approval {
	return resource.Approval{ID: "a1", Class: class, Targets: []string{s.Server}, Boots: []resource.ApprovedBoot{{Server: s.Server, Owner: s.Intent.Boot.Owner.UID}}}
}

func (y *play) has(code resource.ConditionCode) bool {
	for _, c := range y.p.Record.Conditions {
		if c.Code == code {
			return true
		}
	}
	return false
}

// A server is not booted to be wiped but by the approval of this very boot.
func TestWipeIsApproved(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*Snapshot, *resource.Approval)
		begins bool
	}{
		"of this boot":             {func(*Snapshot, *resource.Approval) {}, true},
		"that names all":           {func(s *Snapshot, a *resource.Approval) { a.Boots[0].Image = s.Intent.Boot.Image.Digest }, true},
		"of another class":         {func(_ *Snapshot, a *resource.Approval) { a.Class = resource.ApproveReprovision }, false},
		"of another server":        {func(_ *Snapshot, a *resource.Approval) { a.Boots[0].Server = "server-2" }, false},
		"of another maintenance":   {func(_ *Snapshot, a *resource.Approval) { a.Boots[0].Owner = "other" }, false},
		"of nobody's":              {func(s *Snapshot, a *resource.Approval) { a.Boots[0].Owner = ""; s.Intent.Boot.Owner.UID = "" }, false},
		"of another environment":   {func(_ *Snapshot, a *resource.Approval) { a.Boots[0].BootEnv = "memtest" }, false},
		"of another image":         {func(_ *Snapshot, a *resource.Approval) { a.Boots[0].Image = "sha256:other" }, false},
		"that names no boot":       {func(_ *Snapshot, a *resource.Approval) { a.Boots = nil }, false},
		"without, and no key":      {func(s *Snapshot, a *resource.Approval) { s.Bulk.Key, a.Boots = false, nil }, true},
		"without, not to be wiped": {func(s *Snapshot, a *resource.Approval) { s.Artefacts.Destructive, a.Boots = false, nil }, true},
	} {
		y := story(t, func(s *Snapshot) {
			wiping(s)
			a := permitting(*s, resource.ApproveWipe)
			a.Boots[0].BootEnv = "decommission"
			row.change(s, &a)
			if s.Intent.Boot.Owner.UID == "" {
				s.Intent.Owner.UID, s.Grant.OwnerUID = "", ""
			}
			s.Approved = []resource.Approval{a}
		})
		y.read(protocol.PowerOff, 0, nil)
		y.read(protocol.PowerOff, time.Minute, nil)
		begun := y.p.Record.Attempt != nil
		if begun != row.begins || y.has(resource.CondWipeNotApproved) == row.begins {
			t.Errorf("an approval %s: begun %t, conditions %+v", name, begun, y.p.Record.Conditions)
		}
		if !row.begins && (y.p.Action.Kind != ActNone || len(y.p.Record.Owners.Used) > 0 || y.p.Spent != "") {
			t.Errorf("an approval %s: %s, %+v", name, y.p.Action.Kind, y.p.Record.Owners.Used)
		}
	}
}

// An approval is for one boot: that is tried again by it, and after it has fetched its files
// the next one needs another approval.
func TestWipeIsApprovedOnce(t *testing.T) {
	y := story(t, wiping)
	y.s.Approved = []resource.Approval{permitting(y.s, resource.ApproveWipe)}
	y.read(protocol.PowerOff, 0, nil)
	if a := y.p.Record.Attempt; a == nil || a.Order.Cleared.Approval != "a1" || y.p.Spent != "a1" || !y.p.Persist {
		t.Fatalf("%+v, spent %q", a, y.p.Spent)
	}
	y.s.Approved = nil // it is used
	y.restart()
	fails := func(d time.Duration, why string) {
		y.s.Record.Attempt.Stage.State, y.s.Record.Attempt.Stage.Ending.Reason = resource.AttemptFailed, why
		y.s.NewID, y.s.NewToken = why, why
		y.read(protocol.PowerOff, d, nil)
		y.read(protocol.PowerOff, d+time.Minute, nil)
	}
	fails(time.Hour, "first")
	if a := y.p.Record.Attempt; !a.Open() || a.ID != "first" || a.Order.Cleared.Approval != "a1" || y.p.Spent != "" || y.has(resource.CondWipeNotApproved) {
		t.Fatalf("tried again: %+v, %+v", a, y.p.Record.Conditions)
	}
	other := *y.s.Intent.Boot
	other.Env = &message.EnvIntent{Name: "other"}
	y.s.Record.Attempt.Stage.State = resource.AttemptFailed
	s := y.s
	in := *s.Intent
	in.Boot, s.Intent = &other, &in
	s.Observation = seen(protocol.PowerOff, 3*time.Hour)
	if p := Step(at(3*time.Hour), s); p.Record.Attempt.Open() {
		t.Error("another environment is booted by what was let through")
	}
	y.s.Record.ran()
	y.s.Record.Attempt.Stage.State = resource.AttemptFailed
	y.s.Requests = []resource.Request{{ID: "r", Server: "server-1", Action: resource.RequestReboot, Mode: resource.StopSoft, NotAfter: at(24 * time.Hour)}}
	fails(4*time.Hour, "second")
	fails(5*time.Hour, "second")
	if a := y.p.Record.Attempt; a.Open() || !y.has(resource.CondWipeNotApproved) {
		t.Errorf("booted again by an order: %+v, %+v", a, y.p.Record.Conditions)
	}
}

// What was begun by a release that wanted no approval, or before the key was known, is not
// gone on with.
func TestWipeBegunWithout(t *testing.T) {
	y := story(t, wiping)
	y.s.Bulk.Key = false
	y.read(protocol.PowerOff, 0, nil)
	if !y.p.Record.Attempt.Open() {
		t.Fatal("nothing begins without a key")
	}
	y.s.Bulk.Key = true
	y.restart()
	y.read(protocol.PowerOff, time.Second, nil)
	if a := y.p.Record.Attempt; a.Open() || y.p.Action.Kind == ActOn || y.p.Action.Kind == ActArm {
		t.Errorf("%+v, %s", a, y.p.Action.Kind)
	}
}

// ADR 0024: a grant for a server that has a system of the same claim needs the class
// reprovision; one of another claim, and one that boots from the network each time, does not.
func TestReinstallIsApproved(t *testing.T) {
	for name, row := range map[string]struct {
		change   func(*Snapshot)
		approved bool
		waits    bool
	}{
		"a record of an earlier generation": {func(s *Snapshot) {
			s.Record.provision(resource.Provisioned{OwnerUID: s.Intent.Owner.UID, Generation: 9})
		}, false, true},
		"the same, approved": {func(s *Snapshot) {
			s.Record.provision(resource.Provisioned{OwnerUID: s.Intent.Owner.UID, Generation: 9})
		}, true, false},
		"an echo of an earlier generation": {func(s *Snapshot) { s.Echo = &resource.Provisioned{OwnerUID: s.Intent.Owner.UID, Generation: 9} }, false, true},
		"behind the record of a maintenance": {func(s *Snapshot) {
			s.Record.provision(resource.Provisioned{OwnerUID: s.Intent.Owner.UID, Generation: 9})
			s.Record.provision(resource.Provisioned{OwnerUID: "m", Generation: 1})
		}, false, true},
		"a record of another claim": {func(s *Snapshot) { s.Record.provision(resource.Provisioned{OwnerUID: "other", Generation: 1}) }, false, false},
		"no record":                 {func(*Snapshot) {}, false, false},
		"it boots from the network each time": {func(s *Snapshot) {
			s.Record.provision(resource.Provisioned{OwnerUID: s.Intent.Owner.UID, Generation: 9})
			b := *s.Intent.Boot
			b.BootPolicy.Boot = resource.BootNetwork
			s.Intent.Boot = &b
			s.Grant.Repeat = true
		}, false, false},
		"an agent that knows no destructive key": {func(s *Snapshot) {
			s.Bulk.Key = false
			s.Record.provision(resource.Provisioned{OwnerUID: s.Intent.Owner.UID, Generation: 9})
		}, false, false},
	} {
		y := story(t, func(s *Snapshot) {
			s.Bulk.Key = true
			row.change(s)
			if row.approved {
				s.Approved = []resource.Approval{permitting(*s, resource.ApproveReprovision)}
			}
		})
		y.read(protocol.PowerOff, 0, nil)
		y.read(protocol.PowerOff, time.Minute, nil)
		if waits := y.has(resource.CondInstallNotApproved); waits != row.waits || (y.p.Record.Attempt == nil) != row.waits {
			t.Errorf("%s: waits %t, attempt %+v, %+v", name, waits, y.p.Record.Attempt, y.p.Record.Conditions)
		}
	}
}
