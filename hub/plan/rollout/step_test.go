package rollout

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/protocol/resource"
)

// noon is when these roll-outs begin.
func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// few are some servers that serve the image of before.
func few(n int) []Server {
	var all []Server
	for i := range n {
		all = append(all, up(fmt.Sprintf("s%d", i)))
	}
	return all
}

// start is the input of a roll-out's first step.
func start(servers []Server, change func(*resource.RolloutSpec)) Input {
	spec := resource.RolloutSpec{Strategy: resource.RolloutReboot}
	if change != nil {
		change(&spec)
	}
	spec.Default()
	return Input{Now: noon(), Spec: spec, Status: Begin(noon(), spec, 2, 1, servers), Servers: servers, Stamped: true}
}

// servers names who is ordered.
func ordered(r Result) string {
	var names []string
	for _, o := range r.Orders {
		names = append(names, o.Server)
	}
	return strings.Join(names, " ")
}

// after is the next input: the orders were recorded and some time has passed.
func after(in Input, r Result, d time.Duration) Input {
	in.Now, in.Status, in.Servers = in.Now.Add(d), r.Status, slices.Clone(in.Servers)
	for _, o := range r.Orders {
		i := slices.IndexFunc(in.Servers, func(s Server) bool { return s.Name == o.Server })
		in.Servers[i].Ordered = o.At
	}
	return in
}

// booted has a server boot the revision now.
func booted(in Input, name string) Input {
	in.Servers = slices.Clone(in.Servers)
	for i := range in.Servers {
		if s := &in.Servers[i]; s.Name == name {
			s.Boots, s.BootedAt, s.Up, s.Down = s.Target, in.Now, true, ""
		}
	}
	return in
}

// done takes a server through its boot and soak.
func done(in Input, name string) Input {
	in = booted(in, name)
	in.Status = Step(in).Status
	in.Now = in.Now.Add(in.Spec.Soak.D())
	return in
}

func TestFirstStep(t *testing.T) {
	for _, c := range []struct {
		name    string
		servers []Server
		spec    func(*resource.RolloutSpec)
		in      func(*Input)
		orders  string
		phase   resource.RolloutPhase
		says    string
	}{
		{name: "one canary", servers: few(5), orders: "s0", phase: resource.RolloutCanary},
		// Teleport agent updates: a count of at least the group's size was never over.
		{name: "canaries leave one", servers: few(3), spec: func(s *resource.RolloutSpec) {
			s.Canary.Count, s.MaxUnavailable = 9, "100%"
		}, orders: "s0 s1", phase: resource.RolloutCanary},
		{name: "a group of one has a canary", servers: few(1), orders: "s0", phase: resource.RolloutCanary},
		{name: "canaries by labels", servers: labelled(few(4), 2), spec: func(s *resource.RolloutSpec) {
			s.Canary = resource.CanarySpec{MatchLabels: map[string]string{"canary": "yes"}}
		}, orders: "s2", phase: resource.RolloutCanary},
		// hawkBit counted an empty group as success.
		{name: "labels of nobody are passed over", servers: few(4), spec: func(s *resource.RolloutSpec) {
			s.Canary = resource.CanarySpec{MatchLabels: map[string]string{"canary": "yes"}}
		}, orders: "s0", phase: resource.RolloutWave},
		{name: "but not without a stamp", servers: few(4), spec: func(s *resource.RolloutSpec) {
			s.Canary = resource.CanarySpec{MatchLabels: map[string]string{"canary": "yes"}}
		}, in: func(in *Input) { in.Stamped = false }, phase: resource.RolloutWaiting, says: "canary"},
		{name: "canaries serve", servers: down(few(4), DownDark, 0, 1), spec: func(s *resource.RolloutSpec) { s.MaxUnavailable = "3" }, orders: "s2", phase: resource.RolloutCanary},
		{name: "who is down takes room", servers: down(few(4), DownHeld, 0), phase: resource.RolloutWaiting, says: "1 servers are out of service, and at most 1 may be: s0"},
		{name: "who failed before takes none", servers: down(few(1), DownFailed, 0), orders: "s0", phase: resource.RolloutCanary},
		{name: "a share that is none is no room", servers: few(4), spec: func(s *resource.RolloutSpec) { s.MaxUnavailable = "many" }, phase: resource.RolloutWaiting, says: "neither a count nor percent"},
		{name: "percent is at least one", servers: few(4), spec: func(s *resource.RolloutSpec) { s.MaxUnavailable = "1%" }, orders: "s0", phase: resource.RolloutCanary},
		{name: "frozen", servers: few(4), spec: func(s *resource.RolloutSpec) { s.Freeze = true }, phase: resource.RolloutWaiting, says: "freeze"},
		{name: "out of its window", servers: few(4), spec: func(s *resource.RolloutSpec) { s.Windows = night() }, phase: resource.RolloutWaiting, says: "Sat 2026-11-21 22:00"},
		{name: "without approval", servers: disks(few(4)), spec: func(s *resource.RolloutSpec) { s.Strategy = resource.RolloutReprovision }, phase: resource.RolloutWaiting, says: "approval of s0"},
		{name: "with approval", servers: disks(few(4)), spec: func(s *resource.RolloutSpec) { s.Strategy = resource.RolloutReprovision }, in: func(in *Input) {
			in.Approved = func(s string) bool { return s == "s0" }
		}, orders: "s0", phase: resource.RolloutCanary},
		{name: "a disk is not rebooted into an image", servers: disks(few(2)), phase: resource.RolloutWaiting},
		{name: "nothing is ordered at the next boot", servers: few(2), spec: func(s *resource.RolloutSpec) { s.Strategy = resource.RolloutOnNextBoot }, phase: resource.RolloutWave},
		{name: "nor to canaries", servers: few(2), spec: func(s *resource.RolloutSpec) { s.Strategy = resource.RolloutOnNextBoot }, in: func(in *Input) { in.Stamped = false }, phase: resource.RolloutCanary},
		{name: "an empty group is complete", phase: resource.RolloutCompleted},
		{name: "but not without a stamp", in: func(in *Input) { in.Stamped = false }, phase: resource.RolloutWaiting},
		{name: "who boots it already is done", servers: running(few(3)), phase: resource.RolloutCompleted},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := start(c.servers, c.spec)
			if c.in != nil {
				c.in(&in)
			}
			r := Step(in)
			if ordered(r) != c.orders || r.Status.Phase != c.phase || !strings.Contains(r.Status.Reason, c.says) {
				t.Errorf("%q, %s: %s", ordered(r), r.Status.Phase, r.Message)
			}
		})
	}
}

func labelled(servers []Server, i int) []Server {
	servers[i].Labels = map[string]string{"canary": "yes"}
	return servers
}

func down(servers []Server, why DownReason, which ...int) []Server {
	for _, i := range which {
		servers[i].Up, servers[i].Down = false, why
	}
	return servers
}

func disks(servers []Server) []Server {
	for i := range servers {
		servers[i].Network = false
	}
	return servers
}

func running(servers []Server) []Server {
	for i := range servers {
		servers[i].Boots, servers[i].BootedAt = newImage, noon().Add(-time.Hour)
	}
	return servers
}

func TestWavesThatCannotBeRead(t *testing.T) {
	in := start(few(4), func(s *resource.RolloutSpec) { s.Waves = []resource.Share{"10%", "half"} })
	if r := Step(in); r.Status.Phase != resource.RolloutFailed || len(r.Orders) > 0 || !strings.Contains(r.Message, "waves[1]") {
		t.Errorf("%s: %s", r.Status.Phase, r.Message)
	}
}

// Canaries and the servers of each wave are of as many racks as there are.
func TestWavesAreOfAllRacks(t *testing.T) {
	servers := few(12)
	for i := range servers {
		servers[i].Rack = fmt.Sprintf("r%d", i/4)
	}
	spec := resource.RolloutSpec{Canary: resource.CanarySpec{Count: 3}, Waves: []resource.Share{"1", "1%", "50%"}}
	st := Begin(noon(), spec, 2, 1, servers)
	racks := map[int]map[string]int{}
	for _, s := range servers {
		w := st.Members[s.Name].Wave
		if racks[w] == nil {
			racks[w] = map[string]int{}
		}
		racks[w][s.Rack]++
	}
	want := map[int]map[string]int{0: {"r0": 1, "r1": 1, "r2": 1}, 1: {"r0": 1}, 3: {"r0": 1, "r1": 2, "r2": 1}, 4: {"r0": 1, "r1": 1, "r2": 2}}
	if st.Waves != 5 || !maps.EqualFunc(racks, want, maps.Equal) {
		t.Errorf("%d waves: %v", st.Waves, racks)
	}
}

// TestOrderWaits: an order that cannot be recorded is given again, and why it cannot is
// said; its time does not run out while half of it is left, nor is each step news.
func TestOrderWaits(t *testing.T) {
	servers := few(2)
	servers[0].Waits, servers[1].Waits = "its rack has not the files", "its rack has not the files"
	in := start(servers, func(s *resource.RolloutSpec) { s.Canary.Count = 1 })
	first := Step(in)
	name := ordered(first)
	in.Status, in.Now = first.Status, in.Now.Add(time.Minute)
	second := Step(in)
	m := second.Status.Members[name]
	if ordered(second) != name || m.State != resource.MemberBegun || m.Reason != "its rack has not the files" || !m.DueAt.Equal(*first.Status.Members[name].DueAt) {
		t.Fatalf("%q, %+v", ordered(second), m)
	}
	half := in.Spec.Deadline.D() / 2
	if want := noon().Add(half); !second.RecheckAt.Equal(want) {
		t.Errorf("the next look is at %s, want %s", second.RecheckAt, want)
	}
	in.Status, in.Now = second.Status, noon().Add(half)
	third := Step(in)
	if m = third.Status.Members[name]; !m.DueAt.Equal(in.Now.Add(in.Spec.Deadline.D())) || !m.BegunAt.Equal(noon()) {
		t.Errorf("%+v", m)
	}
	in = after(in, third, time.Minute)
	if m = Step(in).Status.Members[name]; m.State != resource.MemberBegun || m.Reason != "" {
		t.Errorf("recorded: %+v", m)
	}
}

// TestLongReason: what a server says of its failure is cut, and stays text.
func TestLongReason(t *testing.T) {
	for reason, want := range map[string]string{
		"it did not start":            "it did not start",
		strings.Repeat("x", 120):      strings.Repeat("x", 120),
		strings.Repeat("x", 121):      strings.Repeat("x", 117) + "…",
		"x" + strings.Repeat("é", 80): "x" + strings.Repeat("é", 58) + "…",
	} {
		if got := short(reason); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
