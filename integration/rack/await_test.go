package rack

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	bmcsim "rackboot/bmc/sim"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// ask asks for something once, of an incarnation.
func (b *bench) want(id string, action resource.RequestAction, incarnation string) {
	b.asks = append(b.asks, resource.Request{
		ID: id, Server: b.servers[0].Name, Action: action, Mode: resource.StopHard, NotAfter: time.Now().Add(time.Hour), Incarnation: incarnation,
	})
}

// ended waits for the end of a request.
func (b *bench) ended(id string, want resource.Outcome) {
	b.t.Helper()
	b.until(id+" "+string(want), 0, func(r resource.ServerReport) bool {
		return slices.ContainsFunc(r.Requests, func(q resource.RequestReport) bool { return q.ID == id && q.Outcome == want })
	})
}

// incarnation is the agent's, once its session was answered by a hub that is not
// behind: a document that overtakes the answer makes it look so, until the next.
func (b *bench) incarnation() string {
	b.t.Helper()
	b.eventually("an answered session", func() bool {
		m, ok := b.newest()
		return ok && m.Nonce == "nonce of "+m.Session && counter(b.t, b.scraped, "rackboot_agent_hub_verified") == 1
	})
	m, _ := b.newest()
	return m.Incarnation
}

// TestWaitsForTheHub: after a restart no first boot and no request is begun before
// the hub is heard; holds and boots from disk do not wait (P1, P4, P9).
func TestWaitsForTheHub(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(*testing.T){
		"a first boot": func(t *testing.T) {
			b := newBench(t, 1, bmcsim.Plain())
			a, stop := b.start(nil)
			b.send(a)
			b.until("the first report", 0, func(r resource.ServerReport) bool { return r.Observation.Power == protocol.PowerOff })
			stop()
			b.link.mute(true)
			a, _ = b.start(nil)
			b.claim(0)
			b.send(a)
			b.until("AwaitingHub", 0, has(resource.CondAwaitingHub))
			if !b.idle(0) || !b.agentHas(resource.CondHubUnverified) {
				t.Errorf("it was begun: %+v", b.servers[0].BMC.History())
			}
			b.hold(a, "hold-1", resource.StopHard)
			b.until("the receipt", 0, fenced)
			b.release(a)
			b.until("AwaitingHub again", 0, has(resource.CondAwaitingHub))
			b.link.mute(false)
			b.until("the disk boot", 0, diskBoot)
			b.eventually("a verified hub", func() bool { return !b.agentHas(resource.CondHubUnverified) })
		},
		"a request, and no boot from disk": func(t *testing.T) {
			b := newBench(t, 1, bmcsim.Plain())
			a, stop := b.start(nil)
			b.claim(0)
			b.send(a)
			b.until("the disk boot", 0, diskBoot)
			b.hold(a, "hold-1", resource.StopHard)
			b.until("the receipt", 0, fenced)
			stop()
			b.link.mute(true)
			a, _ = b.start(nil)
			b.release(a)
			b.until("the disk boot after the release", 0, func(r resource.ServerReport) bool { return len(r.Holds) == 0 && diskBoot(r) })
			resets := len(b.resets(0))
			b.want("reboot-1", resource.RequestReboot, "")
			b.send(a)
			b.until("AwaitingHub", 0, has(resource.CondAwaitingHub))
			if got := b.resets(0); len(got) != resets {
				t.Errorf("resets %v", got)
			}
			b.link.mute(false)
			b.ended("reboot-1", resource.OutcomeDone)
		},
		"what was given to another disk": func(t *testing.T) {
			b := newBench(t, 1, bmcsim.Plain())
			a, _ := b.start(nil)
			b.claim(0)
			b.intents[0].Boot.GrantFor = "another"
			b.want("reboot-1", resource.RequestReboot, "another")
			b.send(a)
			b.until("GrantInvalid", 0, has(resource.CondGrantInvalid))
			b.ended("reboot-1", resource.OutcomeUnknown)
			if !b.idle(0) {
				t.Errorf("it was touched: %+v", b.servers[0].BMC.History())
			}
			b.intents[0].Boot.GrantFor = b.incarnation()
			b.send(a)
			b.until("the disk boot", 0, diskBoot)
		},
		"a power-off": func(t *testing.T) {
			b := newBench(t, 1, bmcsim.Plain())
			b.servers[0].BMC.ExternalOn()
			a, _ := b.start(nil)
			b.want("off-1", resource.RequestPowerOff, "")
			b.send(a)
			b.ended("off-1", resource.OutcomeDone)
			if got := b.resets(0); !slices.Equal(got, []string{"ForceOff"}) || b.servers[0].BMC.PowerState() != protocol.PowerOff {
				t.Errorf("resets %v", got)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// copyOf copies the agent's store, as a backup of its host would.
func (b *bench) copyOf(to, from string) {
	b.t.Helper()
	if err := errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(from))); err != nil {
		b.t.Fatal(err)
	}
}

// TestRolledBackDisk puts an older copy of the agent's store back, twice: once of
// before the first boot, once of before a reboot. The hub has seen more and says so;
// nothing is installed twice, and nothing is reset twice (P4, P9).
func TestRolledBackDisk(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	store, saved := filepath.Join(b.dir, "state"), filepath.Join(t.TempDir(), "copy")
	a, stop := b.start(nil)
	b.send(a)
	first := b.incarnation()
	stop()
	b.copyOf(saved, store)

	a, stop = b.start(nil)
	b.claim(0)
	b.intents[0].Boot.GrantFor = first
	b.send(a)
	b.until("the disk boot", 0, diskBoot)
	stop()
	b.copyOf(store, saved)
	// As after a power failure of the rack: the server is Off, and the copy knows
	// neither claim nor installation.
	if err := errors.Join(b.servers[0].BMC.PullPower(), b.servers[0].BMC.RestorePower()); err != nil {
		t.Fatal(err)
	}
	resets := b.resets(0)
	b.roll(first)
	a, stop = b.start(nil)
	b.send(a)
	b.until("GrantInvalid", 0, has(resource.CondGrantInvalid))
	second := b.incarnation()
	if n, _, _, inst := b.servers[0].Boots.Counts(); n != 1 || inst != 1 || !slices.Equal(b.resets(0), resets) || second == first {
		t.Errorf("%d network boots, %d installations, resets %v after %v; %s after %s", n, inst, b.resets(0), resets, second, first)
	}

	// A new claim's grant is this disk's; then a copy of before a reboot comes back.
	b.claim(0)
	b.intents[0].Owner.UID, b.intents[0].Boot.Owner.UID = "claim-uid-2", "claim-uid-2"
	b.grant(0)
	b.intents[0].Boot.GrantFor = second
	b.send(a)
	b.until("the second installation's disk boot", 0, diskBoot)
	stop()
	b.copyOf(saved, store)
	a, stop = b.start(nil)
	b.want("reboot-1", resource.RequestReboot, second)
	b.send(a)
	b.ended("reboot-1", resource.OutcomeDone)
	b.until("the disk boot after the reboot", 0, diskBoot)
	stop()
	b.copyOf(store, saved)
	resets = b.resets(0)
	b.roll(second)
	a, _ = b.start(nil)
	b.send(a)
	b.ended("reboot-1", resource.OutcomeUnknown)
	if third := b.incarnation(); third == second || !slices.Equal(b.resets(0), resets) {
		t.Errorf("resets %v after %v; incarnation %s after %s", b.resets(0), resets, third, second)
	}
	if n, _, _, inst := b.servers[0].Boots.Counts(); n != 2 || inst != 2 {
		t.Errorf("%d network boots, %d installations", n, inst)
	}
}

// roll has the hub know that an incarnation is an old copy.
func (b *bench) roll(incarnation string) {
	b.link.mu.Lock()
	defer b.link.mu.Unlock()
	b.link.renew = incarnation
}
