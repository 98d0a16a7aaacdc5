package rack

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"rackboot/agent"
	bmcsim "rackboot/bmc/sim"
	"rackboot/netboot/firmware"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// ask boots over HTTP as the server's firmware would, beside it.
func (b *bench) ask(i int) error {
	mac, err := net.ParseMAC(b.servers[i].MAC)
	if err != nil {
		b.t.Fatal(err)
	}
	c := &firmware.Client{MAC: mac, Server: net.UDPAddrFromAddrPort(b.dhcp), Speed: speed}
	_, err = c.HTTPBoot(b.t.Context())
	return err
}

// forced says that the last power-on in the history was forced off, and not by us
// powered on: nothing but ForceOff was accepted since record n.
func (b *bench) forced(n int) {
	b.t.Helper()
	var kinds []string
	for _, h := range b.servers[0].BMC.History()[n:] {
		if h.What == bmcsim.RecordReset {
			kinds = append(kinds, h.Detail)
		}
	}
	if !slices.Equal(kinds, []string{"ForceOff"}) {
		b.t.Errorf("resets %v, want one ForceOff", kinds)
	}
}

// TestEmptyDisk is an agent that never heard from its hub: it answers no DHCP,
// serves no file and touches no server (P4).
func TestEmptyDisk(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	a, _ := b.start(nil)
	if err := b.ask(0); !errors.Is(err, firmware.ErrNoOffer) {
		t.Errorf("DHCP answered: %v", err)
	}
	resp, err := http.Get("http://" + b.http.String() + "/b/0123456789abcdef/boot.efi")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("HTTP answered %s", resp.Status)
	}
	if !b.idle(0) || b.calls.observed.Load() != 0 {
		t.Errorf("history %+v", b.servers[0].BMC.History())
	}
	b.claim(0)
	b.send(a)
	b.until("the disk boot after the sync", 0, diskBoot)
}

// TestHeldWithoutHub restarts the agent of a held server with nobody to talk to:
// it stays held, is refused boots, and a power-on by somebody else is forced off
// at once (P1, P2; V6, V19). Missing from newer documents, it is held all the same.
func TestHeldWithoutHub(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, bmcsim.Plain())
	a, stop := b.start(nil)
	b.claim(0)
	b.send(a)
	b.until("the disk boot", 0, diskBoot)
	b.hold(a, "hold-1", resource.StopHard)
	first := b.receipt(b.until("the receipt", 0, fenced))

	stop()
	n := len(b.servers[0].BMC.History())
	a, _ = b.start(nil)
	b.until("the held server", 0, fenced)
	if err := b.ask(0); err == nil || errors.Is(err, firmware.ErrNoOffer) {
		t.Errorf("a held server was not refused in its own form: %v", err)
	}
	b.servers[0].BMC.ExternalOn()
	r := b.until("the violation and a new receipt", 0, func(r resource.ServerReport) bool {
		return has(resource.CondHoldViolated)(r) && fenced(r) && b.receipt(r).ConfirmedAt.After(first.ConfirmedAt)
	})
	if second := b.receipt(r); second.PowerEpoch != first.PowerEpoch+1 || !second.StoppedSince.After(first.ConfirmedAt) {
		t.Errorf("receipt %+v after %+v", second, first)
	}
	b.forced(n)

	held := b.holds
	b.holds = nil
	b.send(a)
	b.until("HoldMissing", 0, func(r resource.ServerReport) bool { return has(resource.CondHoldMissing)(r) && fenced(r) })
	intents := b.intents
	b.intents = nil
	b.send(a)
	b.until("ServerMissing", 0, func(r resource.ServerReport) bool { return has(resource.CondServerMissing)(r) && fenced(r) })
	n = len(b.servers[0].BMC.History())
	b.servers[0].BMC.ExternalOn()
	b.eventually("force off of a server that no document names", func() bool {
		return len(b.servers[0].BMC.History()) > n+2 && b.servers[0].BMC.PowerState() == protocol.PowerOff
	})
	b.forced(n)

	b.intents, b.holds = intents, held
	b.release(a)
	b.until("the disk boot after the release", 0, func(r resource.ServerReport) bool { return len(r.Holds) == 0 && diskBoot(r) })
	if n, _, _, inst := b.servers[0].Boots.Counts(); n != 1 || inst != 1 {
		t.Errorf("%d network boots, %d installations", n, inst)
	}
}

// stopsAt starts an agent that stops, the first time that it comes to a crash point, until
// it is to go on; came says whether it is there.
func (b *bench) stopsAt(point string) (a *agent.Agent, came func() bool, goOn func()) {
	b.t.Helper()
	var there atomic.Bool
	gate := make(chan struct{})
	a, _ = b.start(func(at string) {
		if at == point && there.CompareAndSwap(false, true) {
			<-gate
		}
	})
	goOn = sync.OnceFunc(func() { close(gate) })
	b.t.Cleanup(goOn) // before the agent is stopped
	return a, there.Load, goOn
}

// TestHoldBetweenArmAndPower puts a hold on a server whose override was just
// written, or that was just decided to be powered on: it is not, and the override is
// cleared (P2, P6).
func TestHoldBetweenArmAndPower(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"agent.acted.arm", "agent.act.on"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, 1, bmcsim.Plain())
			a, came, goOn := b.stopsAt(point)
			b.claim(0)
			b.send(a)
			b.eventually("the override", func() bool { return came() && b.servers[0].BMC.Override().Armed() })
			b.hold(a, "hold-1", resource.StopSoft)
			goOn()
			b.until("the receipt", 0, fenced)
			if got := b.resets(0); len(got) != 0 || b.servers[0].BMC.Override().Armed() {
				t.Errorf("resets %v, override %+v", got, b.servers[0].BMC.Override())
			}
			b.release(a)
			b.until("the disk boot after the release", 0, diskBoot)
		})
	}
}

// TestHoldDuringDownload puts a hold on a server while firmware loads its boot
// file: it is stopped, and what was fetched spends the grant (P2, P4).
func TestHoldDuringDownload(t *testing.T) {
	t.Parallel()
	b, finish := benchThatInstalls(t, 1) // where the file is loaded before the hold comes
	b.push(bytes.Repeat([]byte("MZ a large unified kernel image "), 1<<20))
	a, _ := b.start(nil)
	b.claim(0)
	b.send(a)
	b.eventually("firmware's pick", func() bool {
		return slices.ContainsFunc(b.servers[0].BMC.History(), func(h bmcsim.Record) bool { return h.What == bmcsim.RecordConsumed })
	})
	b.hold(a, "hold-1", resource.StopHard)
	b.until("the receipt", 0, fenced)
	if got := b.resets(0); !slices.Equal(got, []string{"On", "ForceOff"}) {
		t.Errorf("resets %v", got)
	}
	finish()
	b.release(a)
	b.until("a boot from disk, or the end of the grant", 0, func(r resource.ServerReport) bool {
		return diskBoot(r) || has(resource.CondGrantSpent)(r)
	})
	if n, _, _, inst := b.servers[0].Boots.Counts(); n > 1 || inst > 1 {
		t.Errorf("%d network boots, %d installations", n, inst)
	}
}
