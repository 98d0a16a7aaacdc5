package control

import (
	"testing"
	"time"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// dieAt has the hub die at the next passage of a point, while the servers live on.
func (f *fleet) dieAt(point string) {
	f.t.Helper()
	for range 200 {
		f.crash = point
		died := func() (died bool) {
			defer func() {
				if r := recover(); r != nil {
					if r != any(crashed{point}) {
						panic(r)
					}
					died = true
				}
			}()
			f.step()
			return false
		}()
		if died {
			f.restart()
			f.greetAll()
			return
		}
	}
	f.t.Fatalf("the hub did not come to %s", point)
}

// The hub dies between each two writes of a roll-out, and what it began is completed: the
// same revisions, each server rebooted once for each, and not more of them with a bad image.
func TestRolloutCrashes(t *testing.T) {
	_, bad := resource.SplitImage(imageOf("30.0"))
	for point, version := range map[string]string{
		"hub.rollout.begun": "2.0", "hub.rollout.stepped": "2.0", "hub.rollout.asked": "2.0", "hub.rollout.ordered": "2.0",
		"hub.rollout.noted": "30.0", "hub.rollout.returned": "30.0", "hub.rollout.superseded": "30.0",
	} {
		t.Run(point, func(t *testing.T) {
			f := newFleet(t, 1, 1, 3, nil)
			f.until("all boot 1.0", f.all("1.0"))
			f.until("the first is complete", f.phase(resource.RolloutCompleted))
			f.most, f.bad[bad] = 1, true
			f.apply(entryOf(version))
			f.dieAt(point)
			want, history := "2.0", "1:1.0/catalogue 2:2.0/catalogue @2"
			if version == "30.0" {
				want, history = "1.0", "1:1.0/catalogue 2:30.0/catalogue 3:1.0/auto-rollback @3"
				f.until("it is rolled back", f.phase(resource.RolloutRolledBack))
			} else {
				f.until("it is complete", f.phase(resource.RolloutCompleted))
			}
			f.until("all boot "+want, f.all(want))
			for range 10 {
				f.step()
			}
			f.wantHistory(point, history)
			for _, b := range f.boxes {
				if most := map[string]int{"2.0": 2, "30.0": 3}[version]; b.attempts > most {
					t.Errorf("%s was booted %d times", b.name, b.attempts)
				}
			}
		})
	}
}

// approves has somebody approve whatever waits for it, and says how much did.
func (f *fleet) approves() (n int) {
	f.t.Helper()
	for _, r := range f.control.Approvals.List() {
		if r.State != resource.ApprovalPending {
			continue
		}
		if _, err := f.control.Approvals.Grant(f.t.Context(), r.ID, r.Version, "ann", true); err != nil {
			f.t.Fatal(err)
		}
		n++
	}
	return n
}

func (f *fleet) pending() []store.StoredApproval {
	var out []store.StoredApproval
	for _, r := range f.store.Approvals.List() {
		if r.State == resource.ApprovalPending {
			out = append(out, r)
		}
	}
	return out
}

// Servers with a system on the disk are installed anew by an approval for each wave that
// names them, and by nothing else; a denial pauses the roll-out. A return asks too.
func TestRolloutReprovision(t *testing.T) {
	disk := func(g *resource.ServerGroup) {
		g.Spec.BootPolicy.Boot = resource.BootHdd
		g.Spec.Rollout.Strategy = resource.RolloutReprovision
	}
	f := newFleet(t, 1, 1, 4, disk)
	f.until("all boot 1.0", f.all("1.0"))
	f.until("the first is complete", f.phase(resource.RolloutCompleted))
	if len(f.store.Approvals.List()) > 0 {
		t.Fatalf("a first boot wants an approval: %+v", f.store.Approvals.List())
	}
	f.most = 1
	f.apply(entryOf("2.0"))
	f.until("it asks for the canary", func() bool { return len(f.pending()) == 1 })
	asked := f.pending()[0]
	if len(asked.Targets) != 1 || len(asked.Boots) != 1 || asked.Boots[0].Owner == "" || asked.Class != resource.ApproveReprovision {
		t.Errorf("%+v", asked)
	}
	deny := func() error {
		_, err := f.control.Approvals.Deny(ctx(t), asked.ID, "bob", "not today", true)
		return err
	}
	f.dies("hub.rollout.unapproved", func() { _ = deny() })
	f.greetAll()
	if err := deny(); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		f.step()
	}
	if g := f.group(); g.Status.Rollout.Phase != resource.RolloutPaused || len(f.pending()) > 0 {
		t.Fatalf("denied: %+v, %+v", g.Status.Rollout, f.pending())
	}
	f.wantConds("denied", resource.CondImagesProgressing, resource.CondWaitingForStamp, resource.CondRolloutPaused)
	if _, err := f.control.Rollouts.CommandRollout(ctx(t), "workers", api.RolloutRequest{Command: api.RolloutResume, Reason: "now"}, "ann"); err != nil {
		t.Fatal(err)
	}
	f.until("it asks again", func() bool { return len(f.pending()) == 1 })
	f.approves()
	f.dieAt("hub.rollout.granted")
	f.until("all boot 2.0", func() bool {
		f.approves()
		return f.all("2.0")()
	})
	f.until("it is complete", f.phase(resource.RolloutCompleted))
	for _, b := range f.boxes {
		if b.attempts != 2 {
			t.Errorf("%s was booted %d times from the network", b.name, b.attempts)
		}
	}
	_, bad := resource.SplitImage(imageOf("30.0"))
	f.bad[bad], f.most = true, 0
	f.apply(entryOf("30.0"))
	f.until("it is rolled back", func() bool {
		return f.phase(resource.RolloutRolledBack)() || f.approves() < 0
	})
	f.until("the return asks too", func() bool { return len(f.pending()) == 1 })
	for range 5 {
		f.step()
	}
	if f.all("2.0")() {
		t.Error("returned without an approval")
	}
	f.until("all boot 2.0 again", func() bool {
		f.approves()
		return f.all("2.0")()
	})
	f.wantHistory("rolled back", "1:1.0/catalogue 2:2.0/catalogue 3:30.0/catalogue 4:2.0/auto-rollback @4")
}

// What people say to a roll-out: it is kept over a death of the hub, and refused where it
// makes no sense.
func TestRolloutCommands(t *testing.T) {
	f := newFleet(t, 1, 1, 3, nil)
	say := func(c api.RolloutCommand) error {
		_, err := f.control.Rollouts.CommandRollout(ctx(t), "workers", api.RolloutRequest{Command: c, Reason: "because"}, "ann")
		return err
	}
	if err := say(api.RolloutPause); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("without a roll-out: %v", err)
	}
	f.until("all boot 1.0", f.all("1.0"))
	f.until("the first is complete", f.phase(resource.RolloutCompleted))
	if err := say(api.RolloutPause); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("after its end: %v", err)
	}
	f.apply(entryOf("2.0"))
	f.until("it is begun", f.phase(resource.RolloutCanary))
	f.dies("hub.rollout.said", func() { _ = say(api.RolloutPause) })
	f.greetAll()
	for range 30 {
		f.step()
	}
	if ro := f.group().Status.Rollout; ro.Phase != resource.RolloutPaused || ro.By != "ann" || ro.Reason != "because" {
		t.Errorf("%+v", ro)
	}
	if err := say(api.RolloutCommand("stop")); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Error(err)
	}
	if err := say(api.RolloutResume); err != nil {
		t.Error(err)
	}
	f.until("all boot 2.0", f.all("2.0"))
	f.apply(entryOf("30.0"))
	f.until("the next is begun", f.phase(resource.RolloutCanary))
	if err := say(api.RolloutAbort); err != nil {
		t.Error(err)
	}
	f.now = f.now.Add(time.Hour)
	for range 30 {
		f.step()
	}
	if n := f.groupRevision(3).Status; n.Result != resource.RolloutAborted || n.EndedAt == nil {
		t.Errorf("%+v", n)
	}
	other := 0
	for _, b := range f.boxes {
		if cfg := f.configOf(b.claim); cfg.Spec.Revision == 3 {
			other++
		}
	}
	if other > 1 {
		t.Errorf("%d servers would boot what was aborted", other)
	}
}
