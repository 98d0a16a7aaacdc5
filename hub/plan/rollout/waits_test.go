package rollout

import (
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// A member says why it itself is not begun; what all wait for is the roll-out's own reason.
func TestWaitsFor(t *testing.T) {
	disk, net := Server{Claimed: true, Boots: "old", Target: "new"}, Server{Claimed: true, Boots: "old", Target: "new", Network: true}
	down := func(s Server, why DownReason) Server { s.Down = why; return s }
	up := func(s Server) Server { s.Up = true; return s }
	first := Server{Claimed: true, Target: "new", Down: DownOff}
	fetching := first
	fetching.Waits = "its rack fetches the files"
	for name, row := range map[string]struct {
		strategy resource.RolloutStrategy
		what     take
		server   Server
		want     string
	}{
		"held":                     {resource.RolloutReboot, takeLater, down(net, DownHeld), "it is held"},
		"in maintenance":           {resource.RolloutReboot, takeLater, down(net, DownMaintenance), "it is in maintenance"},
		"dark":                     {resource.RolloutReboot, takeLater, down(net, DownDark), "nothing is heard of it, or of its agent"},
		"off":                      {resource.RolloutReboot, takeLater, down(net, DownOff), "it is off"},
		"busy":                     {resource.RolloutReboot, takeLater, down(net, DownAttempt), "a boot of it is under way"},
		"a disk, and Reboot":       {resource.RolloutReboot, takeLater, up(disk), "it has boot: Hdd, and Reboot is for boot: Network"},
		"network, and Reprovision": {resource.RolloutReprovision, takeLater, up(net), "it has boot: Network, and Reprovision is for a system on the disk"},
		"first boot":               {resource.RolloutReboot, takeLater, first, "it takes the revision with its first boot"},
		"first boot, no files":     {resource.RolloutReboot, takeLater, fetching, "its first boot is to come: its rack fetches the files"},
		"next boot, network":       {resource.RolloutOnNextBoot, takeNever, up(net), "it takes the revision when it is switched on the next time"},
		"next boot, disk":          {resource.RolloutOnNextBoot, takeNever, up(disk), "it boots from its disk, and takes the revision when it is installed anew"},
		"next boot, held":          {resource.RolloutOnNextBoot, takeNever, down(disk, DownHeld), "it is held"},
		"room":                     {resource.RolloutReboot, takeRoom, up(net), ""},
		"room, and no files":       {resource.RolloutReboot, takeRoom, Server{Claimed: true, Up: true, Waits: "its rack fetches the files"}, "its rack fetches the files"},
		"gate":                     {resource.RolloutReboot, takeGate, up(net), ""},
		"stamp":                    {resource.RolloutReboot, takeStamp, up(net), ""},
		"approval":                 {resource.RolloutReprovision, takeApproval, up(disk), ""},
		"gone":                     {resource.RolloutReboot, takeLater, Server{}, ""},
	} {
		if got := waitsFor(row.strategy, row.what, row.server); got != row.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// What nobody can begin is named by the roll-out, by its members, and by a next that is refused.
func TestCanaryThatIsAwayIsNamed(t *testing.T) {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	spec := resource.RolloutSpec{Strategy: resource.RolloutReboot, Canary: resource.CanarySpec{MatchLabels: map[string]string{"canary": "yes"}}}
	spec.Default()
	servers := []Server{
		{Name: "n1", Labels: map[string]string{"canary": "yes"}, Boots: "old", Target: "new", Network: true, Claimed: true, Down: DownHeld},
		{Name: "n2", Boots: "old", Target: "new", Network: true, Claimed: true, Up: true},
	}
	in := Input{Now: now, Spec: spec, Servers: servers, Status: Begin(now, spec, 2, 1, servers)}
	out := Step(in)
	if m := out.Status.Members["n1"]; m.Reason != "it is held" || !strings.Contains(out.Status.Reason, "n1 (it is held)") {
		t.Errorf("%+v, %q", m, out.Status.Reason)
	}
	if again := Step(Input{Now: now, Spec: spec, Servers: servers, Status: out.Status}); again.Status.Members["n1"] != out.Status.Members["n1"] || again.Status.Reason != out.Status.Reason {
		t.Errorf("it is written again: %+v", again.Status)
	}
	_, err := Do(now, out.Status, Next, "ann", "hurry")
	if protocol.CodeOf(err) != protocol.CodeConflict || !strings.Contains(err.Error(), "it waits for n1 (it is held)") {
		t.Errorf("next: %v", err)
	}
	servers[0].Up, servers[0].Down = true, ""
	if m := Step(Input{Now: now, Spec: spec, Servers: servers, Status: out.Status}).Status.Members["n1"]; m.State != resource.MemberBegun || m.Reason != "" {
		t.Errorf("it came back: %+v", m)
	}
}
