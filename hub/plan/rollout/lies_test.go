package rollout

import (
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Each promise of TestProperties can be broken: by a step that is told a lie about what
// the promise rests on, or that keeps something to itself, which the world notices.
func TestPropertiesCanFail(t *testing.T) {
	for _, c := range []struct {
		promise string
		scene   func(*scene)
		lie     func(*Input)
		answer  func(*Result)
	}{
		{"room", nil, func(in *Input) { in.Spec.MaxUnavailable = "100%" }, nil},
		{"window", func(sc *scene) { sc.spec.Windows = night() }, func(in *Input) { in.Spec.Windows = nil }, nil},
		{"window", func(sc *scene) { sc.spec.Freeze = true }, func(in *Input) { in.Spec.Freeze = false }, nil},
		{"approval", func(sc *scene) { sc.spec.Strategy = resource.RolloutReprovision }, func(in *Input) { in.Approved = func(string) bool { return true } }, nil},
		{"stamp", func(sc *scene) { sc.stamped, sc.image = false, relapse }, func(in *Input) { in.Stamped, in.Spec.Soak = true, 0 }, nil},
		{"paused", func(sc *scene) { sc.image = broken }, nil, func(out *Result) {
			for name := range out.Status.Members {
				if out.Status.Phase == resource.RolloutPaused {
					out.Orders = append(out.Orders, Order{name, OrderReboot, out.Status.StartedAt})
				}
			}
		}},
		{"rejected", func(sc *scene) { sc.image, sc.spec.OnFailure = broken, resource.OnFailureRollback }, func(in *Input) {
			if in.Status.Phase == resource.RolloutRolledBack {
				in.Status.Phase = resource.RolloutWave
				in.Spec.MaxFailures = 100
			}
		}, nil},
		{"flight", func(sc *scene) { sc.spec.MaxUnavailable = "50%" }, func(in *Input) {
			for i := range in.Servers {
				if in.Servers[i].Down == DownAttempt {
					in.Servers[i].Up, in.Servers[i].Down, in.Servers[i].Ordered = true, "", in.Now
				}
			}
			in.Spec.Deadline = protocol.Duration(time.Minute)
			in.Spec.MaxFailures = 100
			for name, m := range in.Status.Members {
				if m.State == resource.MemberFailed {
					in.Status.Members[name] = resource.RolloutMember{Wave: m.Wave, State: resource.MemberWaiting, Since: m.Since}
				}
			}
		}, nil},
		{"away", func(sc *scene) { sc.trouble = true }, func(in *Input) {
			for i := range in.Servers {
				if s := &in.Servers[i]; s.Down == DownHeld || s.Down == DownDark {
					s.Up, s.Down = true, ""
				}
			}
		}, nil},
		// Orders that died with the hub are not given again.
		{"progress", func(sc *scene) { sc.kills = 0.5 }, func(in *Input) {
			for i := range in.Servers {
				if m := in.Status.Members[in.Servers[i].Name]; m.BegunAt != nil {
					in.Servers[i].Ordered = *m.BegunAt
				}
			}
			in.Spec.Deadline = protocol.Duration(1000 * time.Hour)
		}, nil},
		{"stamp: by", func(sc *scene) { sc.image, sc.stamped = relapse, false }, func(in *Input) { in.Spec.Soak = protocol.Duration(time.Second) }, nil},
		{"strategy", func(sc *scene) { sc.spec.Strategy = resource.RolloutOnNextBoot }, func(in *Input) { in.Status.Strategy = resource.RolloutReboot }, nil},
	} {
		t.Run(strings.ReplaceAll(c.promise, " ", "_"), func(t *testing.T) {
			var last error
			for seed := range 200 {
				sc := scenes().Example(seed)
				sc.image, sc.spec.Freeze = sound, false
				if c.scene != nil {
					c.scene(&sc)
				}
				w := sc.world()
				w.step = func(in Input) Result {
					told := in
					if c.lie != nil {
						c.lie(&told)
					}
					out := Step(told)
					if c.answer != nil {
						c.answer(&out)
					}
					return out
				}
				if last = w.run(400, sc.events(w)); last != nil && strings.Contains(last.Error(), c.promise) {
					return
				}
			}
			t.Errorf("200 fleets did not notice; the last said %v", last)
		})
	}
}
