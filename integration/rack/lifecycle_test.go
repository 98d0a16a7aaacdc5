package rack

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/agent"
	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// armed are the overrides that a BMC took, in order: "UefiHttp Once".
func (b *bench) armed(i int) (all []string) {
	for _, h := range b.servers[i].BMC.History() {
		if h.What == bmcsim.RecordPatch && strings.Contains(h.Detail, string(protocol.OverrideOnce)) {
			all = append(all, h.Detail)
		}
	}
	return all
}

// armedFor fails where a BMC took a network override that no On of ours followed.
func (b *bench) armedFor(i int) {
	b.t.Helper()
	armed := ""
	for _, h := range b.servers[i].BMC.History() {
		switch {
		case h.What == bmcsim.RecordPatch && strings.Contains(h.Detail, string(protocol.OverrideOnce)):
			if armed != "" {
				b.t.Errorf("%s after %s, without an On between", h.Detail, armed)
			}
			if armed = h.Detail; strings.HasPrefix(armed, string(protocol.TargetHdd)) {
				armed = "" // also for the installer's own restart
			}
		case h.What == bmcsim.RecordReset && h.Detail == string(resource.WantOn):
			armed = ""
		}
	}
	if armed != "" {
		b.t.Errorf("%s was armed, and the server not powered on", armed)
	}
}

// TestInstallerKilled: mains power is lost after the installer was fetched and before it
// has ended. Nothing boots the server from the network again by itself, not the power
// that returns, not a restart of the agent, and not a person's button; an operator's
// retry, a claim made again with its own grant, does (P4, seed hole 2).
func TestInstallerKilled(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, t.TempDir(), 1, bmcsim.Plain(), func(c *sim.ServerConfig) { c.Install = time.Hour })
	a, stop := b.start(nil)
	b.claim(0)
	b.send(a)
	b.until("Fetched", 0, func(r resource.ServerReport) bool {
		return r.Attempt != nil && r.Attempt.State == resource.AttemptFetched
	})
	b.eventually("the installer", func() bool { base, _ := b.servers[0].Boots.Installing(); return base != "" })
	base, leased := b.servers[0].Boots.Installing()
	server := b.servers[0].BMC
	if err := server.PullPower(); err != nil {
		t.Fatal(err)
	}
	b.until("the BMC is gone", 0, func(r resource.ServerReport) bool { return r.Observation.Power == protocol.PowerUnreachable })
	if err := server.RestorePower(); err != nil {
		t.Fatal(err)
	}
	spent := func(r resource.ServerReport) bool {
		return has(resource.CondGrantSpent)(r) && r.Observation.Power == protocol.PowerOff && len(r.Provisioned) == 0
	}
	r := b.until("GrantSpent", 0, spent)
	if r.Attempt == nil || r.Attempt.Code != resource.AttemptInterrupted && r.Attempt.Code != resource.AttemptNoReport {
		t.Errorf("the attempt ended as %+v", r.Attempt)
	}
	if status, _, _ := b.get(http.MethodGet, b.servers[0].Boots.LastURL(), leased); status != http.StatusNotFound {
		t.Errorf("its boot file is still given: %d", status)
	}
	if status, _, _ := b.get(http.MethodGet, base+protocol.FileIgnition, leased); status != http.StatusNotFound {
		t.Errorf("its user data is still given: %d", status)
	}

	stop()
	a, _ = b.start(nil)
	b.until("GrantSpent after a restart", 0, spent)
	server.PressPowerButton() // the boot order decides: the EFI shell
	b.until("SafeStopped", 0, func(r resource.ServerReport) bool {
		return has(resource.CondSafeStopped)(r) && r.Observation.Power == protocol.PowerOn
	})
	if err := b.ask(0); err == nil {
		t.Error("it was booted from the network without an order")
	}
	if n, _, _, inst := b.servers[0].Boots.Counts(); n != 1 || inst != 0 || len(b.armed(0)) != 1 {
		t.Fatalf("%d network boots, %d installations, armed %v", n, inst, b.armed(0))
	}

	in := &b.intents[0]
	b.claim(0)
	in.Owner.UID, in.Boot.Owner.UID = "claim-uid-2", "claim-uid-2"
	b.grant(0)
	b.want("off-1", resource.RequestReboot, "") // it runs for nobody: the operator orders its stop
	b.send(a)
	b.until("Fetched once more", 0, func(r resource.ServerReport) bool {
		return r.OwnerUID == "claim-uid-2" && r.Attempt != nil && r.Attempt.State == resource.AttemptFetched
	})
	b.booted(0, 2, 0)
	b.armedFor(0)
}

// TestAgentDiskReplaced: the agent of a rack of provisioned servers comes back with an
// empty disk. Until it has synced nothing is served and nothing powered on; then servers
// whose records the hub echoes boot their disks, and one whose record nobody has boots
// nothing. No firmware boots from the network (P4).
func TestAgentDiskReplaced(t *testing.T) {
	t.Parallel()
	b := newBench(t, 3, bmcsim.Plain())
	a, stop := b.start(nil)
	for i := range b.servers {
		b.claim(i)
		b.intents[i].Owner.UID, b.intents[i].Boot.Owner.UID = "claim-"+b.servers[i].Name, "claim-"+b.servers[i].Name
		b.grant(i)
		b.intents[i].Boot.GrantFor = ""
	}
	b.send(a)
	first := make([]int, len(b.servers))
	for i := range b.servers {
		r := b.until("the disk boot", i, diskBoot)
		b.intents[i].Boot.Provisioned = r.Provisioned
		first[i], _, _, _ = b.servers[i].Boots.Counts()
	}
	old := b.incarnation()
	stop()
	for _, folder := range []string{"state", "blobs"} {
		if err := os.RemoveAll(filepath.Join(b.dir, folder)); err != nil {
			t.Fatal(err)
		}
	}
	b.asks = nil
	patches := make([]int, len(b.servers)) // each as it came: the installer's own restart may find its disk armed
	for i := range b.servers {
		patches[i] = len(b.armed(i))
	}
	a, _ = b.start(nil)
	if err := b.ask(0); err == nil {
		t.Error("booted by an agent that knows nothing")
	}
	for i := range b.servers {
		b.intents[i].Boot.GrantFor = old // what a hub that gave the grant to the disk before says
		b.asks = append(b.asks, resource.Request{
			ID: "reboot-" + b.servers[i].Name, Server: b.servers[i].Name, Action: resource.RequestReboot, Mode: resource.StopHard, NotAfter: time.Now().Add(time.Hour),
		})
	}
	b.intents[2].Boot.Provisioned = nil // nobody has its record
	b.send(a)
	for i := range 2 {
		b.until("the disk boot after the reboot", i, func(r resource.ServerReport) bool {
			return diskBoot(r) && len(r.Requests) > 0 && r.Requests[0].Outcome == resource.OutcomeDone
		})
	}
	b.until("GrantInvalid", 2, func(r resource.ServerReport) bool {
		return has(resource.CondGrantInvalid)(r) && r.Observation.Power == protocol.PowerOff
	})
	for i, s := range b.servers {
		if n, _, refused, inst := s.Boots.Counts(); n != first[i] || inst != 1 || refused != 0 {
			t.Errorf("%s: %d network boots, %d refused, %d installations", s.Name, n, refused, inst)
		}
		if got := b.armed(i); slices.ContainsFunc(got[patches[i]:], func(d string) bool { return !strings.HasPrefix(d, string(protocol.TargetHdd)) }) {
			t.Errorf("%s: armed %v since", s.Name, got[patches[i]:])
		}
	}
}

// releasing is a bench whose server runs an installer with user data, and the statuses of
// what it is given by its token. The installer does not heed the power button.
func releasing(t *testing.T) (b *bench, a *agent.Agent, given func() []int) {
	t.Helper()
	b = newBenchOf(t, t.TempDir(), 1, bmcsim.Plain(), func(c *sim.ServerConfig) {
		c.UserData, c.Install, c.Shutdown = true, time.Hour, time.Hour
	})
	b.every = 200 * time.Millisecond
	a, _ = b.start(nil)
	b.claim(0)
	b.intents[0].Boot.Ignition, b.intents[0].Boot.Secrets = b.sealData(0, nil), resource.SecretsSegment
	b.send(a)
	b.eventually("the user data in the installer", func() bool { _, d := b.servers[0].Boots.UserData(); return len(d) > 0 })
	base, leased := b.servers[0].Boots.Installing()
	file := b.servers[0].Boots.LastURL()
	given = func() (got []int) {
		for _, url := range []string{base + protocol.FileIgnition, file} {
			status, _, _ := b.get(http.MethodGet, url, leased)
			got = append(got, status)
		}
		return got
	}
	if got := given(); !slices.Equal(got, []int{200, 200}) {
		t.Fatalf("while it installs: %v", got)
	}
	return b, a, given
}

// TestReleasing: a claim that ends while its installer runs. The server is asked softly,
// forced off after the deadline, and proved Off before it is Released; what was given to
// it by token is given no more, and its user data is destroyed, before any other document
// comes.
func TestReleasing(t *testing.T) {
	t.Parallel()
	b, a, given := releasing(t)
	in := &b.intents[0]
	sealed := strings.TrimPrefix(in.Boot.Ignition.Sealed, "sha256:")
	file, n, server := b.servers[0].Boots.LastURL(), len(b.resets(0)), b.servers[0].BMC
	in.Boot, in.Power, in.Releasing = nil, resource.WantOff, true
	before := time.Now() // the agent counts from when it decides, the BMC hears of it later
	b.send(a)
	b.until("Released", 0, func(r resource.ServerReport) bool {
		if r.Released && r.Observation.Power != protocol.PowerOff {
			t.Fatalf("released while %s", r.Observation.Power)
		}
		return r.Released
	})
	if got := b.resets(0)[n:]; len(got) < 2 || got[0] != "GracefulShutdown" || got[len(got)-1] != "ForceOff" {
		t.Errorf("resets %v", got)
	}
	for _, h := range server.History() {
		if wait := h.At.Sub(before); h.What == bmcsim.RecordReset && h.Detail == "ForceOff" && wait < 2*time.Second {
			t.Errorf("forced off %v after its end was sent, the soft timeout is 2 s", wait)
		}
	}
	if got := given(); !slices.Equal(got, []int{404, 404}) {
		t.Errorf("after its end: %v", got)
	}
	b.eventually("the destruction of the user data", func() bool { return !b.onDisk(sealed) })
	b.nowhere()
	if server.Override().Armed() {
		t.Errorf("%+v is armed", server.Override())
	}

	// The next claim begins where nothing is left of this one.
	b.claim(0)
	in.Owner.UID, in.Boot.Owner.UID, in.Releasing = "claim-uid-2", "claim-uid-2", false
	b.grant(0)
	b.send(a)
	b.until("the next claim's first boot", 0, func(r resource.ServerReport) bool {
		return r.OwnerUID == "claim-uid-2" && r.Attempt != nil && r.Attempt.State == resource.AttemptFetched
	})
	b.eventually("a URL with another token", func() bool { return b.servers[0].Boots.LastURL() != file })
	if got := given(); !slices.Equal(got, []int{404, 404}) {
		t.Errorf("by the token of before: %v", got)
	}
}

// TestReleasingInTheDark: while its BMC cannot be reached a server is not Released,
// however long, and gets nothing by its token; when the BMC is back it is stopped, and
// proved Off.
func TestReleasingInTheDark(t *testing.T) {
	t.Parallel()
	b, a, given := releasing(t)
	if err := b.servers[0].BMC.SetReach(bmcsim.ReachRefused); err != nil {
		t.Fatal(err)
	}
	in := &b.intents[0]
	in.Boot, in.Power, in.Releasing = nil, resource.WantOff, true
	b.send(a)
	var last time.Time
	for range 4 { // its pause grows
		r := b.until("a read of nothing", 0, func(r resource.ServerReport) bool {
			return r.Observation.Power == protocol.PowerUnreachable && r.Observation.ReadAt.After(last)
		})
		if last = r.Observation.ReadAt; r.Released {
			t.Fatal("released by an agent that reads nothing")
		}
	}
	if got := given(); !slices.Equal(got, []int{404, 404}) {
		t.Errorf("to a server that is being released: %v", got)
	}
	if err := b.servers[0].BMC.SetReach(bmcsim.ReachOK); err != nil {
		t.Fatal(err)
	}
	r := b.until("Released", 0, func(r resource.ServerReport) bool { return r.Released })
	if got := b.servers[0].BMC.PowerState(); got != protocol.PowerOff || r.StoppedSince.IsZero() {
		t.Errorf("released, and the BMC says %s", got)
	}
}

// TestPowerOffArmsNothing: a claim with power Off has no override armed at any time, nor
// is one while a server that was On is kept Off (metal-operator arms PXE every two
// minutes, and whoever presses the button installs the machine anew).
func TestPowerOffArmsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	b.every = 200 * time.Millisecond
	a, _ := b.start(nil)
	b.claim(0)
	b.intents[0].Power = resource.WantOff
	b.send(a)
	var last time.Time
	looks := func(what string) {
		t.Helper()
		for range 5 {
			r := b.until(what, 0, func(r resource.ServerReport) bool {
				return r.OwnerUID == "claim-uid" && r.Observation.Power == protocol.PowerOff && r.Observation.ReadAt.After(last)
			})
			last = r.Observation.ReadAt
		}
	}
	looks("a read of Off")
	if got := b.armed(0); len(got) != 0 || !b.idle(0) {
		t.Fatalf("claimed with power Off: armed %v", got)
	}
	b.servers[0].BMC.PressPowerButton()
	b.until("UnexpectedPower, or Off again", 0, func(r resource.ServerReport) bool {
		return r.PowerEpoch > 0 && r.Observation.Power == protocol.PowerOff
	})
	if n, d, refused, _ := b.servers[0].Boots.Counts(); n+d+refused != 0 {
		t.Errorf("the button booted it: %d network, %d disk, %d refused", n, d, refused)
	}

	b.intents[0].Power = resource.WantOn
	b.send(a)
	b.until("the disk boot", 0, diskBoot)
	n := len(b.armed(0))
	b.intents[0].Power = resource.WantOff
	b.send(a)
	last = time.Now()
	looks("a read of Off after it was On")
	if got := b.armed(0); len(got) != n || b.servers[0].BMC.Override().Armed() {
		t.Errorf("armed %v since it is Off, now %+v", got[n:], b.servers[0].BMC.Override())
	}
	b.armedFor(0)
}
