package rollout

import (
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func do(t *testing.T, in Input, c Command) Input {
	t.Helper()
	st, err := Do(in.Now, in.Status, c, "anna", "a look")
	if err != nil {
		t.Fatal(err)
	}
	in.Status = st
	return in
}

// Paused, nothing more is begun and what is on its way is followed; resumed, it goes on.
func TestPauseAndResume(t *testing.T) {
	in := start(few(3), nil)
	r := Step(in)
	in = do(t, after(in, r, time.Minute), Pause)
	if st := in.Status; st.Phase != resource.RolloutPaused || st.By != "anna" || st.Reason != "a look" || st.Resumes != resource.RolloutCanary {
		t.Fatalf("%+v", st)
	}
	in = done(in, "s0")
	r = Step(in)
	if len(r.Orders) > 0 || r.Status.Phase != resource.RolloutPaused || r.Status.Members["s0"].State != resource.MemberDone {
		t.Fatalf("%v, %s, %+v", r.Orders, r.Status.Phase, r.Status.Members["s0"])
	}
	in = do(t, after(in, r, time.Minute), Resume)
	if r = Step(in); ordered(r) != "s1" || r.Status.Phase != resource.RolloutWave || r.Status.By != "" {
		t.Fatalf("%v, %s", r.Orders, r.Status.Phase)
	}
}

// A roll-out that paused by itself tries again who failed, once it is resumed: nobody
// takes its place, and its failure is not counted, for it was down before.
func TestResumeAfterFailure(t *testing.T) {
	in := start(few(3), nil)
	in = after(in, Step(in), 5*time.Minute)
	in.Servers[0].Up, in.Servers[0].Down, in.Servers[0].Failed, in.Servers[0].FailedAt = false, DownFailed, "no kernel", in.Now
	r := Step(in)
	if r.Status.Phase != resource.RolloutPaused || r.Status.By != "" || r.Status.Reason != "1 servers failed, and at most 0 may: s0: no kernel" {
		t.Fatalf("%s: %s", r.Status.Phase, r.Status.Reason)
	}
	in = do(t, after(in, r, time.Minute), Resume)
	if r = Step(in); ordered(r) != "s0" || !r.Status.Members["s0"].WasDown {
		t.Fatalf("%v, %+v", r.Orders, r.Status.Members["s0"])
	}
	in = done(after(in, r, 5*time.Minute), "s0")
	if r = Step(in); ordered(r) != "s1" {
		t.Fatalf("%v, %s", r.Orders, r.Message)
	}
}

// next leaves who is on its way to itself, and begins the next wave; it never passes a
// canary that has proved nothing.
func TestNext(t *testing.T) {
	in := start(few(5), func(s *resource.RolloutSpec) { s.MaxUnavailable, s.Waves = "4", []resource.Share{"1"} })
	in.Stamped = false
	in = after(in, Step(in), time.Minute)
	if _, err := Do(in.Now, in.Status, Next, "anna", ""); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Fatalf("past an unproved canary: %v", err)
	}
	in.Stamped = true
	in = do(t, after(in, Step(in), 0), Next)
	r := Step(in)
	if ordered(r) != "s1" || r.Status.Wave != 1 {
		t.Fatalf("%v in wave %d", r.Orders, r.Status.Wave)
	}
	in = do(t, after(in, r, time.Minute), Next)
	if r = Step(in); ordered(r) != "s2 s3" || r.Status.Wave != 2 {
		t.Fatalf("%v in wave %d", r.Orders, r.Status.Wave)
	}
	if _, err := Do(in.Now, r.Status, Next, "anna", ""); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Fatalf("past the last wave: %v", err)
	}
}

// Aborted, nothing is ordered any more, not even what was not recorded.
func TestAbort(t *testing.T) {
	in := start(few(3), nil)
	in.Status = Step(in).Status
	in = do(t, in, Abort)
	if r := Step(in); len(r.Orders) > 0 || r.Status.Phase != resource.RolloutAborted || r.Status.EndedAt == nil {
		t.Fatalf("%v, %+v", r.Orders, r.Status)
	}
}

func TestUnknownCommand(t *testing.T) {
	if _, err := Do(noon(), resource.RolloutStatus{Phase: resource.RolloutWave}, "hurry", "anna", ""); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Fatal(err)
	}
}

// A refusal says what it was about, and the status stays.
func TestRefusals(t *testing.T) {
	for _, p := range resource.RolloutPhases() {
		for _, c := range commands {
			before := resource.RolloutStatus{Phase: p, Waves: 1, Proved: true}
			after, err := Do(noon(), before, c, "anna", "")
			if err != nil && (protocol.CodeOf(err) != protocol.CodeConflict || after.Phase != p || after.By != "") {
				t.Errorf("%s of %s: %+v, %v", c, p, after, err)
			}
		}
	}
}

// A newer revision ends a roll-out; who is on its way with it is not begun by the newer
// one before its attempt has ended, and who failed with it is, for it may be the cure.
func TestSupersede(t *testing.T) {
	in := start(few(4), func(s *resource.RolloutSpec) { s.MaxUnavailable, s.Canary.Count = "4", 2 })
	r := Step(in)
	in = after(in, r, time.Minute)
	old := Supersede(in.Now, in.Status, 3)
	if r := Step(Input{Now: in.Now, Spec: in.Spec, Status: old, Servers: in.Servers}); len(r.Orders) > 0 || r.Status.Phase != resource.RolloutSuperseded {
		t.Fatalf("%v, %s", r.Orders, r.Status.Phase)
	}
	for i := range in.Servers {
		in.Servers[i].Target, in.Servers[i].Ordered = "sha256:newer", time.Time{}
	}
	in.Servers = down(down(in.Servers, DownAttempt, 0), DownFailed, 1)
	in.Status = Begin(in.Now, in.Spec, 3, 2, in.Servers)
	r = Step(in)
	if ordered(r) != "s2 s3" {
		t.Fatalf("%v: %s", r.Orders, r.Message)
	}
	in = after(in, r, time.Minute)
	if again := Supersede(in.Now, old, 4); again.Reason != old.Reason {
		t.Errorf("it was over: %s", again.Reason)
	}
	in = done(done(in, "s2"), "s3")
	if r = Step(in); ordered(r) != "s1" || r.Status.Phase != resource.RolloutWave || !r.Status.Members["s1"].WasDown {
		t.Fatalf("%v: %s", r.Orders, r.Message)
	}
}
