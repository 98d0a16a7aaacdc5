package rack

import (
	"crypto/tls"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/agent"
	"rackboot/agent/local"
	bmcsim "rackboot/bmc/sim"
	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// meddle is another party that sends a reset to the BMC of server i.
func (b *bench) meddle(i int, reset string) {
	b.t.Helper()
	s := b.servers[i].BMC
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, s.Address()+"/redfish/v1/Systems/1/Actions/ComputerSystem.Reset",
		strings.NewReader(`{"ResetType":"`+reset+`"}`))
	if err != nil {
		b.t.Fatal(err)
	}
	req.SetBasicAuth("admin", "secret")
	req.Header.Set("Content-Type", "application/json")
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		b.t.Fatalf("%s: %s", reset, resp.Status)
	}
}

// slowPost has POST take long enough to be seen by a poll.
func slowPost(c *sim.ServerConfig) { c.Post = 500 * time.Millisecond }

// blind is a BMC that shows no times of resets.
func blind() bmcsim.Personality {
	p := bmcsim.Plain()
	p.Report.LastReset = "absent"
	return p
}

// installed brings the first servers to run from their disks, seen by their BMCs.
func (b *bench) installed(a *agent.Agent, servers int) {
	b.t.Helper()
	for i := range servers {
		b.claim(i)
	}
	b.send(a)
	for i := range servers {
		b.until("the disk boot", i, func(r resource.ServerReport) bool { return diskBoot(r) && r.Observation.BootProgress == "OSRunning" })
	}
}

// stands says whether a server was found to stand, seen to.
func stands(r resource.ServerReport) bool {
	return has(resource.CondSafeStopped)(r) && !has(resource.CondUnexpectedPower)(r) && r.Unexpected != nil && r.Unexpected.Stands == protocol.StandsStopped
}

// resume asks for it at the hub.
func (b *bench) resume(a *agent.Agent, i int, id string) {
	b.t.Helper()
	b.asks = append(b.asks, resource.Request{ID: id, Server: b.servers[i].Name, Action: resource.RequestResume, By: "ann", Why: "looked at it", NotAfter: time.Now().Add(time.Minute)})
	b.send(a)
}

// ended says whether a request has ended so.
func ended(id string, o resource.Outcome) func(resource.ServerReport) bool {
	return func(r resource.ServerReport) bool {
		return slices.ContainsFunc(r.Requests, func(q resource.RequestReport) bool { return q.ID == id && q.Outcome == o })
	}
}

// TestManualPowerCycle is step 6 of the seed's normal claim lifecycle: no override is
// active, firmware stops in the EFI shell, and an operator resumes it. Row 21: the
// server is On, so that it is restarted and not powered on.
func TestManualPowerCycle(t *testing.T) {
	t.Parallel()
	b := newBenchOf(t, t.TempDir(), 1, bmcsim.Plain(), slowPost)
	a, _ := b.start(nil)
	b.installed(a, 1)
	b.resume(a, 0, "too-soon")
	b.until("the refusal of a resume of what runs", 0, ended("too-soon", resource.OutcomeRefused))
	b.asks = nil
	b.servers[0].BMC.PressPowerButton()
	b.until("that it went Off", 0, func(r resource.ServerReport) bool {
		return has(resource.CondUnexpectedPower)(r) && r.Observation.Power == protocol.PowerOff
	})
	b.servers[0].BMC.ExternalOn()
	r := b.until("that it stands", 0, stands)
	if r.Unexpected.By != protocol.ByPoll {
		t.Errorf("shown by %s", r.Unexpected.By)
	}
	sent := len(b.resets(0))
	b.holds = []resource.ActiveHold{}
	b.resume(a, 0, "resume-1")
	b.until("the resume", 0, ended("resume-1", resource.OutcomeDone))
	r = b.until("the disk boot", 0, func(r resource.ServerReport) bool { return diskBoot(r) && r.Unexpected == nil })
	if got := b.resets(0)[sent:]; !slices.Equal(got, []string{"ForceRestart"}) {
		t.Errorf("it was resumed by %v", got)
	}
	b.booted(0, 1, 2)
	if has(resource.CondSafeStopped)(r) {
		t.Errorf("%+v", r.Conditions)
	}
}

// TestQuickCycle: an off and on between two polls, a minute apart, shows in what the
// BMC says at the next read, or at once by what its firmware asks for.
func TestQuickCycle(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		order []protocol.BootTarget
		poll  time.Duration
		whole bool // with the BMC's events
		by    protocol.UnexpectedBy
		is    func(resource.ServerReport) bool
	}{
		{"BootProgress", nil, 2 * time.Second, false, protocol.ByProgress, stands},
		{"events", nil, time.Minute, true, "", stands},
		{"DHCP", []protocol.BootTarget{protocol.TargetUefiHTTP, protocol.TargetHdd}, time.Minute, false, protocol.ByDHCP, has(resource.CondUnexpectedPower)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			b := newBenchOf(t, t.TempDir(), 1, blind(), func(c *sim.ServerConfig) { slowPost(c); c.Order = row.order })
			b.calls.whole.Store(row.whole)
			a, _ := b.start(nil)
			b.installed(a, 1)
			seen, quiet, since := b.calls.observed.Load(), 10*b.poll, time.Now()
			last := seen
			b.poll = row.poll
			b.send(a)
			b.eventually("a read by the new interval, and no other soon", func() bool {
				if n := b.calls.observed.Load(); n != last {
					last, since = n, time.Now()
				}
				return last > seen && time.Since(since) > quiet
			})
			b.meddle(0, "ForceRestart")
			r := b.until("that it is noticed", 0, row.is)
			if row.by != "" && r.Unexpected.By != row.by {
				t.Errorf("shown by %s, want %s", r.Unexpected.By, row.by)
			}
		})
	}
}

// TestStopImage: a machine whose boot order has the network before the disk asks for a
// boot after a power cycle. It is given the stop image and stands, or is refused and
// boots its disk, as the rack says; either is reported, and resumed from its disk.
func TestStopImage(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		first resource.NetworkFirst
		order protocol.BootTarget
		after time.Duration
		stops int
	}{
		{"HTTP", resource.NetworkFirstStopImage, protocol.TargetUefiHTTP, 0, 1},
		{"PXE", resource.NetworkFirstStopImage, protocol.TargetPxe, 0, 1},
		{"powers off", resource.NetworkFirstStopImage, protocol.TargetUefiHTTP, time.Second, 1},
		{"refused", resource.NetworkFirstRefuse, protocol.TargetUefiHTTP, 0, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			b := newBenchOf(t, t.TempDir(), 1, blind(), func(c *sim.ServerConfig) {
				slowPost(c)
				c.Order, c.StopAfter = []protocol.BootTarget{row.order, protocol.TargetHdd}, row.after
			})
			b.stops = &message.SafeStopIntent{NetworkFirst: row.first, PowerOffAfter: row.after}
			a, stop := b.start(nil)
			b.send(a)
			if wants := row.stops > 0; wants {
				b.eventually("that there is no stop image yet", func() bool { return b.agentHas(resource.CondNoStopImage) })
			}
			stop()
			b.loaders = loaderFolder(t, true)
			a, _ = b.start(nil)
			b.installed(a, 1)
			if b.agentHas(resource.CondNoStopImage) {
				t.Error("loaders are there")
			}
			b.meddle(0, "ForceRestart")
			switch {
			case row.stops == 0:
				r := b.until("that it runs", 0, func(r resource.ServerReport) bool {
					return r.Unexpected != nil && r.Unexpected.Stands == protocol.StandsRuns
				})
				b.eventually("the second disk boot", func() bool { _, d, _, _ := b.servers[0].Boots.Counts(); return d == 2 })
				if _, _, refused, _ := b.servers[0].Boots.Counts(); refused != 1 || !has(resource.CondUnexpectedPower)(r) {
					t.Errorf("%d refused, %+v", refused, r.Conditions)
				}
				return
			case row.after > 0:
				b.until("that it powers itself off", 0, func(r resource.ServerReport) bool {
					return r.Observation.Power == protocol.PowerOff && r.Unexpected != nil && r.Unexpected.To == protocol.PowerOff
				})
			default:
				if r := b.until("that it stands", 0, stands); !strings.Contains(r.Unexpected.Why, "stop image") {
					t.Errorf("it says %+v", r.Unexpected)
				}
			}
			b.eventually("the stop image", func() bool { return b.servers[0].Boots.Stopped() >= row.stops }) // the machine runs it after it was given
			if n, d, _, _ := b.servers[0].Boots.Counts(); n != 1 || d != 1 || b.servers[0].Boots.Stopped() != row.stops {
				t.Errorf("%d network boots, %d disk boots, %d in the stop image", n, d, b.servers[0].Boots.Stopped())
			}
			b.resume(a, 0, "resume-1")
			b.until("the resume", 0, ended("resume-1", resource.OutcomeDone))
			b.until("the disk boot", 0, func(r resource.ServerReport) bool { return diskBoot(r) && r.Unexpected == nil })
			b.booted(0, 1, 2)
		})
	}
}

// TestOutage: mains power fails for a whole rack, the agent's host included, and comes
// back. By their restore policy all servers come on at once: each is found and
// reported, nothing is sent to any of them, and each is resumed by an order of its own,
// one of them at the agent with the hub away.
func TestOutage(t *testing.T) {
	t.Parallel()
	for _, policy := range []bmcsim.RestorePolicy{bmcsim.RestoreAlwaysOn, bmcsim.RestoreLastState} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			p := blind()
			p.Restore = policy
			b := newBenchOf(t, t.TempDir(), 3, p, slowPost)
			b.socket = socketPath(t)
			a, stop := b.start(nil)
			b.installed(a, 3)
			stop()
			for _, s := range b.servers {
				if err := s.BMC.PullPower(); err != nil {
					t.Fatal(err)
				}
			}
			for _, s := range b.servers {
				if err := s.BMC.RestorePower(); err != nil {
					t.Fatal(err)
				}
			}
			sent := make([]int, 3)
			for i := range b.servers {
				sent[i] = len(b.resets(i))
			}
			a, _ = b.start(nil)
			for i := range b.servers {
				b.until("that it stands", i, stands)
			}
			for i := range b.servers {
				if got := b.resets(i)[sent[i]:]; len(got) != 0 {
					t.Errorf("server %d was sent %v", i, got)
				}
			}
			if _, err := local.NewClient(b.socket).Resume(t.Context(), b.servers[2].Name, local.ResumeRequest{Reason: "breaker reset"}); err != nil {
				t.Fatal(err)
			}
			b.until("the resume at the agent", 2, func(r resource.ServerReport) bool { return diskBoot(r) && r.Unexpected == nil })
			for i := range 2 {
				b.resume(a, i, "resume-"+b.servers[i].Name)
				b.until("the disk boot", i, func(r resource.ServerReport) bool { return diskBoot(r) && r.Unexpected == nil })
			}
			for i := range b.servers {
				b.booted(i, 1, 2)
			}
		})
	}
}
