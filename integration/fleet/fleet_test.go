package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/integration/sim"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Ten racks of five servers come in step with a real hub, over real connections: every claim
// is Provisioned, and what the hub says of servers is what happened to them.
func TestFleet(t *testing.T) {
	t.Parallel()
	const racks, servers = 10, 5
	s := newSite(t, racks, servers)
	f := s.start()
	for _, c := range list[*resource.BootConfiguration](s, resource.KindBootConfiguration) {
		if c.Status.Provisioned == nil || c.Status.Provisioned.Server != c.Spec.Server || c.Status.Provisioned.OwnerUID != c.Spec.Owner.UID {
			t.Errorf("configuration %s has the record %+v", c.Metadata.Name, c.Status.Provisioned)
		}
	}
	reserved := 0
	s.until("a report of every server", func() bool {
		reserved = 0
		for _, v := range list[*resource.Server](s, resource.KindServer) {
			r := v.Status.Report
			if v.Status.Phase == resource.PhaseReserved && r != nil && r.Power == protocol.PowerOn && r.Attempt != nil && r.Attempt.State == resource.AttemptSucceeded && r.Attempt.Observed == protocol.TargetUefiHTTP {
				reserved++
			}
		}
		return reserved == racks*servers
	})
	s.until("every inventory", func() bool {
		n := 0
		for _, b := range list[*resource.BMC](s, resource.KindBMC) {
			if len(b.Status.Inventory) == 1 && len(b.Status.Conditions) == 0 {
				n++
			}
		}
		return n == racks*servers
	})
	s.until("the events of every first boot", func() bool { return len(s.events(resource.EventProvisioned)) == racks*servers })
	for _, a := range list[*resource.Agent](s, resource.KindAgent) {
		if len(a.Status.Conditions) > 0 {
			t.Errorf("agent %s: %+v", a.Metadata.Name, a.Status.Conditions)
		}
	}
	s.none(f)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// none fails where an agent was refused something, or refused it.
func (s *site) none(f *Fleet) {
	s.t.Helper()
	if n := f.shared.counts.failures.Load(); n > 0 {
		s.t.Errorf("%d messages were refused%s", n, f.firstFailure())
	}
}

// A hold comes to its agent, is Enforced and Fenced, with a receipt that the agent signed,
// and the server boots from its disk once it is released.
func TestHold(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2, 2)
	f := s.start()
	good, failed := f.holds(t.Context(), 4, 0)
	if len(good) != 4 || len(failed) > 0 {
		t.Fatalf("%d holds, failed: %v", len(good), failed)
	}
	for _, h := range good { // the settle window begins at the agent; that the hub says Enforced may be read later
		if h.accepted <= 0 || h.laid <= 0 || h.enforced < h.laid || h.fenced < h.laid+s.config.Settle || h.fenced < h.enforced || h.released <= 0 {
			t.Errorf("the steps are not in order: %+v", h)
		}
	}
	s.until("boots from disk", func() bool {
		n := 0
		for _, v := range list[*resource.Server](s, resource.KindServer) {
			if r := v.Status.Report; r != nil && r.Power == protocol.PowerOn && r.PowerEpoch == 2 && r.Attempt != nil && r.Attempt.Intended == protocol.TargetHdd && r.Attempt.State == resource.AttemptSucceeded {
				n++
			}
		}
		return n == 4
	})
	// One that lies, with its receipt.
	h, err := s.config.Hub.Client.Holds.Create(t.Context(), serverName(rackName(0), 0), api.HoldRequest{HoldTerms: resource.HoldTerms{Key: "k"}})
	if err != nil {
		t.Fatal(err)
	}
	s.until("the receipt", func() bool {
		for _, h := range list[*resource.Hold](s, resource.KindHold) {
			if h.Status.Word == resource.HoldFenced && h.Status.Receipt != nil && h.Status.Receipt.Agent == rackName(0)+"-1" && len(h.Status.SignedReceipt) > 0 {
				return true
			}
		}
		return false
	})
	if err := f.release(t.Context(), h.Metadata.Name); err != nil {
		t.Fatal(err)
	}
	s.none(f)
}

// An agent whose connection is cut connects again and is in step; so are all after the hub was
// restarted.
func TestCut(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3, 2)
	f := s.start()
	before := f.shared.counts.sessions.Load()
	s.cut(rackName(1))
	s.until("another session", func() bool { return f.shared.counts.sessions.Load() > before })
	s.await(f, Installed)
	s.stop()
	before = f.shared.counts.sessions.Load()
	s.until("the loss of every connection", func() bool {
		for _, a := range f.agents {
			if a.progress.connected() {
				return false
			}
		}
		return true
	})
	if err := sim.AwaitFree(t.Context(), netip.MustParseAddrPort(s.hub.API), netip.MustParseAddrPort(s.hub.MQTT)); err != nil {
		t.Fatal(err)
	}
	s.startHub()
	s.until("every agent again", func() bool { return f.shared.counts.sessions.Load() >= before+3 })
	s.await(f, Installed)
	s.until("reports to the new hub", func() bool {
		n := 0
		for _, a := range list[*resource.Agent](s, resource.KindAgent) {
			if a.Status.LastReport != nil {
				n++
			}
		}
		return n == 3
	})
	s.none(f)
}

// Another run needs no joins, and goes on with what the agents had on disk; one that was
// killed begins with empty disks, and installs nothing twice.
func TestAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2, 2)
	if err := s.start().Close(); err != nil {
		t.Fatal(err)
	}
	incarnations := func() (out []string) {
		for _, a := range list[*resource.Agent](s, resource.KindAgent) {
			out = append(out, a.Status.Incarnation)
		}
		return out
	}
	was := incarnations()
	f := s.start()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if now := incarnations(); len(now) != 2 || strings.Join(now, " ") != strings.Join(was, " ") || len(s.events(resource.EventJoined)) != 2 {
		t.Errorf("agents %v, before %v, after %d joins", now, was, len(s.events(resource.EventJoined)))
	}
	for i := range 2 { // what a kill leaves
		if err := os.Remove(filepath.Join(s.config.Dir, rackName(i), diskFile)); err != nil {
			t.Fatal(err)
		}
	}
	f = s.start()
	s.until("boots from the disk", func() bool {
		n := 0
		for _, v := range list[*resource.Server](s, resource.KindServer) {
			if r := v.Status.Report; r != nil && r.Power == protocol.PowerOn && r.Attempt != nil && r.Attempt.Intended == protocol.TargetHdd {
				n++
			}
		}
		return n == 4
	})
	if n := len(s.events(resource.EventProvisioned)); n != 4 {
		t.Errorf("%d installations of 4 servers", n)
	}
	s.none(f)
}

// What is measured is written, and news come to the hub.
func TestMeasure(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2, 2)
	var out bytes.Buffer
	s.config.Load.News, s.config.Load.Holds, s.config.Load.HubPID, s.config.Out = 50, 2, os.Getpid(), &out
	f := s.start()
	s.until("news", func() bool { // as long as it takes, a measurement after the other
		if err := f.Measure(t.Context(), s.config.Load); err != nil {
			t.Fatal(err)
		}
		return f.shared.counts.news.Load() > 0 && len(s.events(resource.EventPowerSeen)) > 0
	})
	for _, want := range []string{"12 resources of 2 racks", "2 agents have joined", "all racks are installed", "hub CPU", "2 holds fenced: p50"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, &out)
		}
	}
	// The same as lines of JSON.
	out.Reset()
	f.table.json = true
	if err := f.Measure(t.Context(), s.config.Load); err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(&out)
	var figure Figure
	var result Result
	if err := errors.Join(lines.Decode(&figure), lines.Decode(&result)); err != nil {
		t.Fatal(err)
	}
	if figure.Connected != 2 || figure.InStep != 2 || figure.Installed != 4 || result.Holds["fenced"].N != 2 || lines.More() {
		t.Errorf("%+v, %+v", figure, result)
	}
}
