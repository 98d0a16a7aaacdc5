package rollout

import (
	"slices"
	"testing"
	"time"

	"rackboot/protocol/resource"
)

// Who joins is in the last wave, a canary's labels make a canary while there are
// canaries, and who leaves is skipped, and comes back to the last wave.
func TestJoinAndLeave(t *testing.T) {
	in := start(labelled(few(4), 0), func(s *resource.RolloutSpec) {
		s.Canary = resource.CanarySpec{MatchLabels: map[string]string{"canary": "yes"}}
		s.Waves = []resource.Share{"1"}
	})
	r := Step(in)
	in = after(in, r, time.Minute)
	in.Servers = append(in.Servers, up("new"), labelled([]Server{up("bird")}, 0)[0])
	in.Servers[1].Claimed = false
	in.Servers[2].Target = ""
	idle := up("idle")
	idle.Claimed = false
	in.Servers = append(in.Servers, idle)
	r = Step(in)
	m := r.Status.Members
	if m["new"].Wave != 2 || m["bird"].Wave != 0 || m["s1"].State != resource.MemberSkipped || m["s2"].State != resource.MemberSkipped || m["s2"].Reason == m["s1"].Reason {
		t.Errorf("%+v", m)
	}
	if _, ok := m["idle"]; ok {
		t.Error("a server without a claim is a member")
	}
	in = after(in, r, time.Minute)
	in.Servers[1].Claimed = true
	if m := Step(in).Status.Members["s1"]; m.State != resource.MemberWaiting {
		t.Errorf("back: %+v", m)
	}
}

// A canary by count that left, or went away before it was begun, is replaced.
func TestCanaryIsReplaced(t *testing.T) {
	in := start(few(4), func(s *resource.RolloutSpec) { s.Freeze, s.MaxUnavailable = true, "2" })
	r := Step(in)
	in = after(in, r, time.Minute)
	in.Servers = down(in.Servers, DownHeld, 0)
	r = Step(in)
	if m := r.Status.Members; m["s0"].Wave != 1 || m["s1"].Wave != 0 {
		t.Fatalf("held: %+v", m)
	}
	in = after(in, r, time.Minute)
	in.Servers = slices.Delete(in.Servers, 1, 2)
	in.Spec.Freeze = false
	if r = Step(in); ordered(r) != "s2" || r.Status.Members["s2"].Wave != 0 {
		t.Fatalf("gone: %v, %+v", r.Orders, r.Status.Members)
	}
}

// With OnNextBoot servers take the revision by themselves: an unproved one reaches a
// canary, and it is complete when all who have a claim boot it.
func TestOnNextBoot(t *testing.T) {
	in := start(few(2), func(s *resource.RolloutSpec) { s.Strategy = resource.RolloutOnNextBoot })
	in.Stamped = false
	in.Servers[0].Network = false // its disk boots: only who is claimed next can prove it
	in.Status = Begin(in.Now, in.Spec, 2, 1, in.Servers)
	if m := in.Status.Members; m["s1"].Wave != 0 || m["s0"].Wave != 1 {
		t.Fatalf("%+v", m)
	}
	in = done(after(in, Step(in), time.Hour), "s1")
	r := Step(in)
	if r.Stamp != "s1" || r.Status.Phase == resource.RolloutCompleted {
		t.Fatalf("%q, %s", r.Stamp, r.Message)
	}
	in = after(in, r, time.Hour)
	in.Stamped = true
	if r = Step(in); r.Status.Phase != resource.RolloutWave || len(r.Orders) > 0 {
		t.Fatalf("%s, %v", r.Message, r.Orders)
	}
	in = done(after(in, r, 24*time.Hour), "s0") // claimed anew
	if r = Step(in); r.Status.Phase != resource.RolloutCompleted {
		t.Fatalf("%s", r.Message)
	}
	// Who is claimed afterwards and fails is said, and the roll-out stays complete.
	in = after(in, r, time.Hour)
	late := up("late")
	late.Boots, late.Up, late.Down = "", false, DownAttempt
	in.Servers = append(in.Servers, late)
	in = after(in, Step(in), time.Minute)
	in.Servers[2].Down, in.Servers[2].Failed, in.Servers[2].FailedAt = DownFailed, "no kernel", in.Now
	if r = Step(in); r.Status.Phase != resource.RolloutCompleted || r.Status.Members["late"].State != resource.MemberFailed || r.Status.Reason == "" {
		t.Fatalf("%s, %+v", r.Message, r.Status.Members["late"])
	}
	if in = do(t, after(in, r, time.Minute), Resume); in.Status.Members["late"].State != resource.MemberWaiting {
		t.Fatalf("%+v", in.Status.Members["late"])
	}
}

// Rolled back, servers return within room and approval; each is ordered once, and one
// that does not return is said to need a look.
func TestRollBack(t *testing.T) {
	in := start(disks(few(4)), func(s *resource.RolloutSpec) {
		s.Strategy, s.OnFailure, s.Canary.Count, s.MaxUnavailable = resource.RolloutReprovision, resource.OnFailureRollback, 2, "2"
	})
	in.Approved = func(string) bool { return true }
	in = booted(after(in, Step(in), 5*time.Minute), "s0")
	in = after(in, Step(in), time.Minute)
	in.Servers[1].Up, in.Servers[1].Down, in.Servers[1].Failed, in.Servers[1].FailedAt = false, DownFailed, "no kernel", in.Now
	in.Approved = nil
	r := Step(in)
	if r.Status.Phase != resource.RolloutRolledBack || !r.RollBack || len(r.Orders) > 0 {
		t.Fatalf("without approval: %v, %s", r.Orders, r.Message)
	}
	in = after(in, r, time.Minute)
	in.Approved = func(string) bool { return true }
	r = Step(in)
	if !r.RollBack || ordered(r) != "s0 s1" || r.Orders[0].Kind != OrderReturn {
		t.Fatalf("%v, %s", r.Orders, r.Message)
	}
	if again := Step(func() Input { lost := in; lost.Status = r.Status; return lost }()); len(again.Orders) != 2 || again.Orders[1] != r.Orders[1] {
		t.Errorf("lost: %v", again.Orders)
	}
	in = after(in, r, 5*time.Minute)
	in.Servers[0].Boots, in.Servers[0].BootedAt = oldImage, in.Now
	in.Servers = down(in.Servers, DownFailed, 1)
	r = Step(in)
	if m := r.Status.Members; m["s0"].State != resource.MemberReturned || m["s1"].State != resource.MemberReturning || len(r.Orders) > 0 {
		t.Fatalf("%+v, %v", m, r.Orders)
	}
	r = Step(after(in, r, time.Hour))
	if m := r.Status.Members["s1"]; m.Reason == "" || m.DueAt != nil || len(r.Orders) > 0 {
		t.Fatalf("%+v, %v", m, r.Orders)
	}
}

// Without a revision before there is nothing to return to.
func TestNothingToRollBackTo(t *testing.T) {
	in := start(few(2), func(s *resource.RolloutSpec) { s.OnFailure = resource.OnFailureRollback })
	in.Status.From = 0
	in = after(in, Step(in), time.Hour)
	if r := Step(in); r.Status.Phase != resource.RolloutPaused || r.RollBack {
		t.Fatalf("%s", r.Message)
	}
}

// Failures that leave no room end it, below maxFailures too: nothing else would.
func TestFailuresLeaveNoRoom(t *testing.T) {
	in := start(few(5), func(s *resource.RolloutSpec) {
		s.MaxFailures, s.Canary.Count, s.OnFailure = 3, 2, resource.OnFailureRollback
	})
	in = after(in, Step(in), time.Minute)
	in.Servers[0].Up, in.Servers[0].Down, in.Servers[0].Failed, in.Servers[0].FailedAt = false, DownFailed, "no kernel", in.Now
	if r := Step(in); r.Status.Phase != resource.RolloutRolledBack || ordered(r) != "s0" {
		t.Fatalf("%v, %s", r.Orders, r.Message)
	}
}
