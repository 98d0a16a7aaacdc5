package main

import (
	"context"
	"errors"
	"time"

	"rackboot/integration/storm/rig"
)

// kills end processes with SIGKILL. A machine's process is its BMC, and the power of both:
// the machine is off when it starts again.
func kills() []fault {
	return []fault{
		{
			name: "kill-hub", damages: "the hub's process", last: time.Second,
			inject: func(_ context.Context, s *rig.Site, _ *rig.Server) error { return s.Hub.Kill() },
			heal:   func(_ context.Context, s *rig.Site, _ *rig.Server) error { return s.Hub.Start() },
		},
		{
			name: "kill-agent", damages: "the agent's process", last: time.Second,
			inject: func(_ context.Context, s *rig.Site, _ *rig.Server) error { return s.Agent.Kill() },
			heal:   func(_ context.Context, s *rig.Site, _ *rig.Server) error { return s.Agent.Start() },
		},
		{
			name: "kill-bmc", damages: "BMCs and the power of their machines", each: true, last: time.Second,
			inject: func(_ context.Context, _ *rig.Site, v *rig.Server) error { return v.Machine.Kill() },
			heal:   func(_ context.Context, _ *rig.Site, v *rig.Server) error { return v.Machine.Start() },
		},
	}
}

// freezes stop processes with SIGSTOP: who waits for them sees connections that are open
// and silent.
func freezes() []fault {
	return []fault{
		{
			name: "stop-hub", damages: "the hub's process, for a while", last: 2500 * time.Millisecond,
			inject: func(_ context.Context, s *rig.Site, _ *rig.Server) error { return s.Hub.Freeze() },
			heal:   func(_ context.Context, s *rig.Site, _ *rig.Server) error { return s.Hub.Thaw() },
		},
		{
			name: "stop-agent", damages: "the agent's process, for a while", last: 2500 * time.Millisecond,
			inject: func(_ context.Context, s *rig.Site, _ *rig.Server) error { return s.Agent.Freeze() },
			heal:   func(_ context.Context, s *rig.Site, _ *rig.Server) error { return s.Agent.Thaw() },
		},
		{
			name: "stop-bmc", damages: "BMCs and their machines, for a while", each: true, last: 2500 * time.Millisecond,
			inject: func(_ context.Context, _ *rig.Site, v *rig.Server) error { return v.Machine.Freeze() },
			heal:   func(_ context.Context, _ *rig.Site, v *rig.Server) error { return v.Machine.Thaw() },
		},
	}
}

// cuts part the network.
func cuts() []fault {
	return []fault{
		{
			name: "cut-hub", damages: "the network between hub and agent", last: 2500 * time.Millisecond,
			inject: func(_ context.Context, s *rig.Site, _ *rig.Server) error {
				s.Broker.Cut()
				s.HubAPI.Cut()
				return nil
			},
			heal: func(_ context.Context, s *rig.Site, _ *rig.Server) error {
				s.Broker.Mend()
				s.HubAPI.Mend()
				return nil
			},
		},
		spoils("cut-bmc", "the network between agent and BMCs", rig.SpoilCut, 0),
	}
}

// reads spoil what BMCs answer.
func reads() []fault {
	return []fault{
		spoils("read-500", "BMC reads: answered 500", rig.SpoilError, 0),
		spoils("read-short", "BMC reads: bodies that end early", rig.SpoilShort, 0),
		spoils("read-hang", "BMC reads: bodies that do not go on", rig.SpoilHang, 0),
		spoils("late-on", "power-on orders: not answered, and done later", rig.SpoilLate, lateBy),
	}
}

// lateBy is longer than the settle window of the rack, so that a hold can be proved
// meanwhile.
const lateBy = 3 * time.Second

func spoils(name, damages string, how rig.Spoil, delay time.Duration) fault {
	return fault{
		name: name, damages: damages, each: true, last: 2500 * time.Millisecond,
		inject: func(_ context.Context, _ *rig.Site, v *rig.Server) error {
			v.Front.Set(how, delay)
			return nil
		},
		heal: func(_ context.Context, _ *rig.Site, v *rig.Server) error {
			v.Front.Set(rig.SpoilNone, 0)
			return nil
		},
	}
}

// hands are people at the machines, who press power buttons past everybody.
func hands() []fault {
	press := func(_ context.Context, _ *rig.Site, v *rig.Server) error { return v.Machine.Press() }
	return []fault{
		{
			name: "button", damages: "power: somebody presses the buttons", each: true, last: time.Second,
			inject: press,
			heal:   func(context.Context, *rig.Site, *rig.Server) error { return nil },
		},
		{
			name: "read-gap", damages: "BMC reads, while somebody powers servers on and off", each: true, last: 3 * time.Second,
			inject: func(ctx context.Context, s *rig.Site, v *rig.Server) error {
				v.Front.Set(rig.SpoilError, 0)
				return press(ctx, s, v)
			},
			heal: func(_ context.Context, _ *rig.Site, v *rig.Server) error {
				// Without a system that heeds the button only the mains are left.
				err := errors.Join(v.Machine.Kill(), v.Machine.Start())
				pause(context.Background(), time.Second)
				v.Front.Set(rig.SpoilNone, 0)
				return err
			},
		},
	}
}

var errNoRoot = errors.New("needs root: a file system of its own")
