package decide

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func TestURLTable(t *testing.T) {
	doctable.Of(t, "booturl.go", "urlRule").HoldOne(t, [][]string{
		doctable.Words(urlAhead, urlTaken, urlEnded), doctable.Words(isOff, isOn, isOther), doctable.Words(armedOurs, armedOther, armedNone),
	}, func(in []string) string {
		if urlRule(urlBoot(in[0]), running(in[1]), armed(in[2])) {
			return "yes"
		}
		return "no"
	})
}

// Each state of an attempt, and what firmware may still want of its URL.
func TestURLBoot(t *testing.T) {
	want := map[resource.AttemptState]urlBoot{
		resource.AttemptPreparing: urlAhead, resource.AttemptArmed: urlAhead, resource.AttemptPowerRequested: urlAhead,
		resource.AttemptConsumed: urlAhead, resource.AttemptFetched: urlTaken, resource.AttemptSucceeded: urlTaken, resource.AttemptFailed: urlEnded,
	}
	for _, s := range resource.AttemptStates() {
		if got := urlBootOf(&Attempt{Stage: Stage{State: s}}); got != want[s] {
			t.Errorf("%s: %s", s, got)
		}
	}
	if got := urlBootOf(&Attempt{Stage: Stage{State: resource.AttemptFailed, Evidence: protocol.EvidenceFetched}}); got != urlTaken {
		t.Errorf("failed after it fetched: %s", got)
	}
	if got := urlBootOf(nil); got != urlEnded {
		t.Errorf("no attempt: %s", got)
	}
}

// byURL is a world whose claim boots by a URL in the BMC.
func byURL(t judge, attempts int) *world {
	w := newWorld(t)
	w.claim(attempts)
	w.byURI()
	return w
}

// TestURLBoots: the URL goes in with the override, and is out before the installer reports,
// also if the server is never Off again; nobody of ours is asked by DHCP.
func TestURLBoots(t *testing.T) {
	for _, row := range []struct{ restarts, keeps bool }{{}, {restarts: true}, {keeps: true}} {
		w := byURL(t, 1)
		w.m.restarts, w.m.faults.KeepArmed = row.restarts, row.keeps // an override for once
		w.until("armed", w.armed)
		if u := w.record().Residue.URL(); u == nil || w.m.uri != w.record().Attempt.Token || u.Token != w.m.uri {
			t.Fatalf("the BMC has %q, the record %+v", w.m.uri, u)
		}
		for range 600 {
			if w.run(500 * time.Millisecond); w.record().Attempt.Stage.State == resource.AttemptSucceeded {
				break
			}
		}
		if a := w.record().Attempt; a.Stage.State != resource.AttemptSucceeded || !a.Network() || a.Stage.Observed != protocol.TargetUefiHTTP {
			t.Fatalf("%+v", a)
		}
		if w.m.uri != "" || w.record().Residue.URL() != nil {
			t.Errorf("%+v: at the end of the attempt the BMC has %q", row, w.m.uri)
		}
		w.m.faults = faults{}
		w.until("booted from disk", func() bool { return w.booted() && !w.record().Attempt.Network() })
	}
}

// TestURLCrashes ends the agent at every moment of such a boot: nothing is installed twice,
// and nothing of the URL is left.
func TestURLCrashes(t *testing.T) {
	n := 0
	for crash := 1; ; crash++ {
		w := byURL(t, 3)
		w.crashIn, w.ids = crash, 0
		installs := 0
		installed := w.m.installed
		w.m.installed = func() bool { installs++; return installed() }
		w.until("crashed, or from disk", func() bool { return w.crashIn == 0 || w.booted() && !w.record().Attempt.Network() })
		if w.crashIn != 0 {
			break
		}
		n++
		w.heard = true
		w.settled()
		if w.m.uri != "" || w.record().Residue.URL() != nil {
			t.Fatalf("crash %d: the BMC has %q: %s", crash, w.m.uri, w.disk)
		}
		if w.provisioned() == nil && len(w.conds) == 0 {
			t.Fatalf("crash %d: nothing says why it is not installed: %s", crash, w.disk)
		}
	}
	if n < 20 {
		t.Errorf("%d moments", n)
	}
}

// Each row ends a boot before its time: what is in the BMC goes, and no later boot begins
// with it there.
func TestURLEnds(t *testing.T) {
	for name, row := range map[string]struct {
		set  func(*world)
		code resource.AttemptCode
	}{
		"the BMC refuses On":           {func(w *world) { w.m.faults.RefuseOn = true }, resource.AttemptPowerFailed},
		"On has no effect":             {func(w *world) { w.m.faults.DropOn = true }, resource.AttemptPowerFailed},
		"the answer to arming is lost": {func(w *world) { w.m.faults.LoseAnswers, w.m.faults.RefuseOn = true, true }, resource.AttemptNotStored},
		"held":                         {func(w *world) { w.until("armed", w.armed); w.hold(resource.StopHard) }, resource.AttemptWithdrawn},
		"the claim ends":               {func(w *world) { w.until("armed", w.armed); w.release0() }, resource.AttemptWithdrawn},
		"the claim ends at the write":  {func(w *world) { w.at, w.then = 7, w.release0 }, resource.AttemptWithdrawn},
		"another party's override":     {func(w *world) { w.until("armed", w.armed); w.m.override.Target = protocol.TargetPxe }, resource.AttemptReplaced},
		"firmware fetches nothing":     {func(w *world) { w.m.netboot = func(protocol.BootTarget) (time.Duration, bool) { return 0, false } }, resource.AttemptFetchFailed},
		"firmware ignores the override": {func(w *world) {
			w.m.consumed = func(protocol.BootTarget) { w.m.stall() }
			w.m.faults.KeepArmed = true
			w.m.netboot = func(protocol.BootTarget) (time.Duration, bool) { return 0, false }
		}, resource.AttemptOverrideIgnored},
		"the installer hangs":     {func(w *world) { w.m.hang = true; w.run(2 * time.Hour) }, resource.AttemptNoReport},
		"BMC without HttpBootUri": {func(w *world) { w.m.faults.NoURL = true }, resource.AttemptNotStored},
	} {
		w := byURL(t, 1)
		row.set(w)
		w.until(name+": failed", func() bool { return len(w.ended) > 0 })
		if w.ended[0].Code != row.code {
			t.Errorf("%s: %+v", name, w.ended)
		}
		w.m.faults = faults{}
		if w.m.power == protocol.PowerOn && w.m.override.Armed() {
			w.m.off() // a person, as the condition says
		}
		w.until(name+": cleared", func() bool { return w.m.uri == "" && w.record().Residue.URL() == nil })
	}
}

// A server that nobody wants to run any more is left as it is, and has no URL.
func TestURLLeft(t *testing.T) {
	w := byURL(t, 1)
	w.m.netboot = func(protocol.BootTarget) (time.Duration, bool) { return 0, false }
	w.until("consumed", func() bool { a := w.record().Attempt; return a != nil && a.Stage.State == resource.AttemptConsumed })
	w.want(func(in *message.ServerIntent) { in.Owner.Name, in.Owner.UID, in.Power, in.Boot = "", "", "", nil })
	w.run(time.Minute)
	if w.m.power != protocol.PowerOn || w.m.uri != "" || w.record().Residue.URL() != nil {
		t.Errorf("%s, URL %q: %s", w.m.power, w.m.uri, w.disk)
	}
}

// A BMC that keeps the URL stops neither boots from disk nor the end of a claim.
func TestURLNotCleared(t *testing.T) {
	w := byURL(t, 1)
	w.m.faults.KeepURL = true
	w.until("booted from disk", func() bool { return w.booted() && !w.record().Attempt.Network() })
	if w.m.uri == "" || !w.has(resource.CondBootURLNotCleared) {
		t.Fatalf("URL %q, %+v", w.m.uri, w.conds)
	}
	if MayFetch(false, false, w.record().Attempt, w.m.uri, w.record().Attempt.Order.File) {
		t.Error("it is answered all the same")
	}
	w.release0()
	w.until("released", func() bool { return w.record().Owners.Released == w.intent.Owner.UID })
	w.m.faults = faults{}
	w.until("cleared at last", func() bool {
		return w.m.uri == "" && w.record().Residue.URL() == nil && !w.has(resource.CondBootURLNotCleared)
	})
}

// A BMC that shows the URL until the next reset delays nothing, and is looked at after it.
func TestURLPending(t *testing.T) {
	w := byURL(t, 1)
	w.m.faults.LateURL = true
	w.until("booted from disk", func() bool { return w.booted() && !w.record().Attempt.Network() })
	if took := w.now; w.m.uri != "" || took > 3*time.Minute || w.has(resource.CondBootURLNotCleared) {
		t.Errorf("URL %q after %v, %+v", w.m.uri, took, w.conds)
	}
	w.until("forgotten", func() bool { return w.record().Residue.URL() == nil })
}

// iPXE asks by DHCP what to do, and with reach uri nobody answers; nothing is begun. On a
// segment the same chain may begin by a URL.
func TestURLChains(t *testing.T) {
	for _, row := range []struct {
		kind  protocol.ChainKind
		reach resource.Reach
		act   ActionKind
	}{
		{protocol.ChainUKI, resource.ReachURI, ActArm},
		{protocol.ChainGRUB, resource.ReachURI, ActArm},
		{protocol.ChainIPXE, resource.ReachURI, ActNone},
		{protocol.ChainIPXE, resource.ReachSegment, ActArm},
	} {
		y := story(t, func(s *Snapshot) {
			s.Intent.Boot.Reach = row.reach
			c := *s.Chain
			c.Kind = row.kind
			s.Chain = &c
		})
		y.read(protocol.PowerOff, sec, nil)
		y.want(row.act)
		if row.act == ActNone {
			y.condition(resource.CondNoBootChain)
		} else if y.p.Action.URI != (row.reach == resource.ReachURI) || y.p.Action.Plain {
			t.Errorf("%s, %s: %+v", row.kind, row.reach, y.p.Action)
		}
	}
}

// The URL in a BMC starts one boot. A BMC that makes an override last, and keeps both until
// somebody resets the server, would have it installed again (P4); what the installer itself
// asks for it gets.
func TestURLBootsOnce(t *testing.T) {
	const fetched, coerced = resource.AttemptFetched, protocol.BootCoercedContinuous
	for _, row := range []struct {
		name    string
		state   resource.AttemptState
		outcome protocol.BootOutcome
		uri     bool
		file    string
		may     bool
	}{
		{"its first boot", resource.AttemptPowerRequested, coerced, true, "boot.efi", true},
		{"seen by a read", resource.AttemptConsumed, coerced, true, "boot.efi", true},
		{"the next boot", fetched, coerced, true, "boot.efi", false},
		{"the installer", fetched, coerced, true, "preseed.cfg", true},
		{"an override for once", fetched, protocol.BootStored, true, "boot.efi", true},
		{"Serve judged it by DHCP", fetched, coerced, false, "boot.efi", true},
	} {
		a := &Attempt{Stage: Stage{State: row.state, Arming: Arming{Outcome: row.outcome}}, Order: Order{URI: row.uri, File: "boot.efi", Target: protocol.TargetUefiHTTP}, Token: "t"}
		if may := MayFetch(false, false, a, "t", row.file); may != row.may {
			t.Errorf("%s: %v, want %v", row.name, may, row.may)
		}
	}
}
