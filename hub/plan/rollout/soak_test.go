package rollout

import (
	"testing"
	"time"

	"rackboot/protocol/resource"
)

// What a canary does once it was begun, at which minute, and what becomes of it.
func TestCanary(t *testing.T) {
	type look struct {
		minute int
		server func(*Server)
		want   resource.MemberState
	}
	at := func(minute int) time.Time { return noon().Add(time.Duration(minute) * time.Minute) }
	boots := func(minute int) func(*Server) {
		return func(s *Server) { s.Boots, s.BootedAt, s.Up, s.Down = s.Target, at(minute), true, "" }
	}
	is := func(why DownReason) func(*Server) { return func(s *Server) { s.Up, s.Down = false, why } }
	fails := func(minute int) func(*Server) {
		return func(s *Server) { s.Up, s.Down, s.Failed, s.FailedAt = false, DownFailed, "it broke", at(minute) }
	}
	serves := func(s *Server) { s.Up, s.Down = true, "" }
	for _, c := range []struct {
		name  string
		looks []look
	}{
		{"it boots and soaks", []look{{1, is(DownAttempt), resource.MemberBegun}, {6, boots(5), resource.MemberSoaking}, {15, nil, resource.MemberSoaking}, {16, nil, resource.MemberDone}}},
		{"a report of before is no evidence", []look{{6, boots(-1), resource.MemberBegun}}},
		{"it has an hour", []look{{59, is(DownAttempt), resource.MemberBegun}, {60, nil, resource.MemberFailed}}},
		{"in which it must be seen, not looked at", []look{{90, boots(59), resource.MemberSoaking}}},
		{"late is too late", []look{{90, boots(61), resource.MemberFailed}}},
		{"its attempt fails", []look{{6, fails(5), resource.MemberFailed}}},
		{"a failure of before is none", []look{{6, fails(-1), resource.MemberBegun}}},
		{"dark is not late", []look{{50, is(DownDark), resource.MemberBegun}, {90, nil, resource.MemberBegun}, {100, is(DownAttempt), resource.MemberBegun}, {159, nil, resource.MemberBegun}, {160, nil, resource.MemberFailed}}},
		{"nor is held", []look{{50, is(DownHeld), resource.MemberBegun}, {90, nil, resource.MemberBegun}}},
		{"off is", []look{{50, is(DownOff), resource.MemberBegun}, {60, nil, resource.MemberFailed}}},
		{"it goes down while it soaks", []look{{6, boots(5), resource.MemberSoaking}, {10, is(DownOff), resource.MemberFailed}}},
		{"it boots something else while it soaks", []look{{6, boots(5), resource.MemberSoaking}, {10, func(s *Server) { s.Boots = oldImage }, resource.MemberFailed}}},
		{"dark while it soaks, it soaks on", []look{{6, boots(5), resource.MemberSoaking}, {10, is(DownDark), resource.MemberWaiting}, {12, serves, resource.MemberSoaking}, {16, nil, resource.MemberDone}}},
		{"it booted again, and soaks anew", []look{{6, boots(5), resource.MemberSoaking}, {12, boots(11), resource.MemberSoaking}, {20, nil, resource.MemberSoaking}, {21, nil, resource.MemberDone}}},
		{"but not for ever", []look{{6, boots(5), resource.MemberSoaking}, {65, boots(64), resource.MemberSoaking}, {71, boots(70), resource.MemberFailed}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := start(few(1), nil)
			in.Spec.MaxFailures = 1
			r := Step(in)
			for _, l := range c.looks {
				in = after(in, r, 0)
				in.Now = at(l.minute)
				if l.server != nil {
					l.server(&in.Servers[0])
				}
				r = Step(in)
				if got := r.Status.Members["s0"]; got.State != l.want {
					t.Fatalf("minute %d: %s (%s), want %s", l.minute, got.State, got.Reason, l.want)
				}
			}
		})
	}
}

// A canary is proved, stamps, and only then the others are begun.
func TestStampBetween(t *testing.T) {
	in := start(few(3), nil)
	in.Stamped = false
	in = done(after(in, Step(in), 5*time.Minute), "s0")
	r := Step(in)
	if r.Stamp != "s0" || len(r.Orders) > 0 || r.Status.Phase != resource.RolloutWaiting {
		t.Fatalf("%q, %v, %s", r.Stamp, r.Orders, r.Message)
	}
	in = after(in, r, time.Minute)
	in.Stamped = true
	r = Step(in)
	if r.Stamp != "" || ordered(r) != "s1" || r.Status.Phase != resource.RolloutWave {
		t.Fatalf("%q, %v, %s", r.Stamp, r.Orders, r.Message)
	}
	// The stamp is void in the middle: nobody else is begun until it was renewed.
	in = done(after(in, r, 5*time.Minute), "s1")
	in.Stamped = false
	if r = Step(in); r.Stamp != "s0" || len(r.Orders) > 0 {
		t.Fatalf("%q, %v, %s", r.Stamp, r.Orders, r.Message)
	}
}

// An order that was not recorded when the window closed, or somebody paused, is taken
// back; one that was recorded is followed to its end.
func TestOrdersOutlastTheirWindow(t *testing.T) {
	in := start(few(3), func(s *resource.RolloutSpec) { s.Windows = night() })
	in.Now = noon().Add(13*time.Hour + 59*time.Minute)
	r := Step(in)
	if ordered(r) != "s0" || !r.RecheckAt.Equal(noon().Add(14*time.Hour)) {
		t.Fatalf("%v, recheck %s", r.Orders, r.RecheckAt)
	}
	lost := in
	lost.Status = r.Status
	if again := Step(lost); len(again.Orders) != 1 || again.Orders[0] != r.Orders[0] {
		t.Errorf("given again: %v", again.Orders)
	}
	lost.Now = lost.Now.Add(time.Minute)
	if back := Step(lost); len(back.Orders) > 0 || back.Status.Members["s0"].State != resource.MemberWaiting {
		t.Errorf("out of the window: %v, %v", back.Orders, back.Status.Members["s0"])
	}
	kept := after(in, r, time.Minute)
	if r := Step(kept); len(r.Orders) > 0 || r.Status.Members["s0"].State != resource.MemberBegun {
		t.Errorf("it was recorded: %v, %v", r.Orders, r.Status.Members["s0"])
	}
}
