package decide

import (
	"slices"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// begun is a first boot whose On was sent and whose override firmware has consumed.
func begun(y *play) {
	y.read(protocol.PowerOff, 0, nil)
	y.read(protocol.PowerOff, sec, y.answered(""))
	y.read(protocol.PowerOn, 2*sec, y.answered(""))
}

// dhcpBy is a boot client's DHCP request of a class.
func dhcpBy(class protocol.ClientClass, d time.Duration) Event {
	return Event{Kind: protocol.EvidenceDHCP, Class: class, At: at(d)}
}

func fetches(y *play, d time.Duration) {
	y.s.Events = []Event{{Begun: true, Token: "token", At: at(d)}, {Kind: protocol.EvidenceFetched, File: "boot.efi", Token: "token", At: at(d)}}
	y.read(protocol.PowerOn, d, nil)
}

// refuses is a BMC that answers each write of the override in one way, for d.
func refuses(y *play, d time.Duration, outcome protocol.BootOutcome, code protocol.Code, busy bool) {
	y.read(protocol.PowerOff, 0, nil)
	for now := time.Duration(0); now < d; now += 10 * sec {
		var r *Result
		if y.p.Action.Kind == ActArm {
			r = &Result{Action: ActArm, Attempt: y.p.Action.Attempt, Code: code, Outcome: outcome, Busy: busy, At: at(now)}
		}
		y.read(protocol.PowerOff, now, r)
		if a := y.p.Record.Attempt; a.Stage.State == resource.AttemptFailed {
			return
		}
	}
}

// Why an attempt failed, in one word: each code of the registry comes of what its title
// says, and of nothing that another one says (facts boot policy §7 rows 10, 11, 20).
func TestAttemptCodes(t *testing.T) {
	const on, off = protocol.PowerOn, protocol.PowerOff
	seen := map[resource.AttemptCode]bool{}
	for _, tt := range []struct {
		name string
		want resource.AttemptCode
		tell func(y *play)
	}{
		{"the BMC is in POST for hours (row 11)", resource.AttemptPostRefused, func(y *play) {
			refuses(y, 2*time.Hour, protocol.BootRefusedByState, protocol.CodeConflict, false)
		}},
		{"the BMC asks for pauses for hours", resource.AttemptPostRefused, func(y *play) {
			refuses(y, 2*time.Hour, protocol.BootRefusedByState, protocol.CodeUnavailable, true)
		}},
		{"it has no such target", resource.AttemptNotStored, func(y *play) { refuses(y, sec, protocol.BootUnsupported, protocol.CodeUnsupported, false) }},
		{"it says yes and keeps the old", resource.AttemptNotStored, func(y *play) { refuses(y, sec, protocol.BootDropped, "", false) }},
		{"it answers nothing", resource.AttemptNotStored, func(y *play) { refuses(y, time.Hour, protocol.BootUnknown, protocol.CodeTimeout, false) }},
		{"another override before On", resource.AttemptReplaced, func(y *play) {
			y.read(off, 0, nil)
			r := y.answered("")
			y.bmc.Target = protocol.TargetPxe
			y.read(off, sec, r)
		}},
		{"another override after On", resource.AttemptReplaced, func(y *play) {
			y.read(off, 0, nil)
			y.read(off, sec, y.answered(""))
			y.bmc = protocol.Override{Target: protocol.TargetPxe, Enabled: protocol.OverrideOnce}
			y.keeps = true
			y.read(on, 20*sec, y.answered(""))
		}},
		{"On before it was armed", resource.AttemptInterrupted, func(y *play) { y.read(off, 0, nil); y.read(on, sec, nil) }},
		{"Off while firmware boots", resource.AttemptInterrupted, func(y *play) { begun(y); y.read(off, 30*sec, nil) }},
		{"the BMC never switches it on", resource.AttemptPowerFailed, func(y *play) {
			y.read(off, 0, nil)
			y.read(off, sec, y.answered(""))
			y.read(off, sec+onTimeout, y.answered(protocol.CodeUnavailable))
		}},
		{"On, and the override stays", resource.AttemptOverrideIgnored, func(y *play) {
			y.keeps = true
			begun(y)
			y.read(on, 3*sec+consumeTimeout, nil)
		}},
		{"the override stays, firmware boots by PXE", resource.AttemptAskedByPXE, func(y *play) {
			y.keeps = true
			begun(y)
			y.s.Events = []Event{dhcpBy(protocol.ClassPXEClient, 5*sec)}
			y.read(on, 5*sec, nil)
			y.read(on, 3*sec+consumeTimeout, nil)
		}},
		{"consumed, and asked by HTTP", resource.AttemptAskedByHTTP, func(y *play) {
			orders(y, resource.FirstBootPxe)
			begun(y)
			y.s.Events = []Event{dhcpBy(protocol.ClassHTTPClient, 3*sec)}
			y.read(on, 3*sec+fetchTimeout, nil)
		}},
		{"to boot its disk, and asked the network", resource.AttemptWrongMethod, func(y *play) {
			y.s.Record.Owners.Provisioned = provisionedBy("claim-1")
			y.keeps = true
			begun(y)
			y.s.Events = []Event{dhcpBy(protocol.ClassPXEClient, 5*sec)}
			y.read(on, 5*sec, nil)
			y.read(on, 3*sec+consumeTimeout, nil)
		}},
		{"consumed, and asked by PXE", resource.AttemptAskedByPXE, func(y *play) {
			begun(y)
			y.s.Events = []Event{dhcpBy(protocol.ClassPXEClient, 3*sec)}
			y.read(on, 3*sec+fetchTimeout, nil)
		}},
		{"consumed, and nobody asked", resource.AttemptNoDHCP, func(y *play) { begun(y); y.read(on, 3*sec+fetchTimeout, nil) }},
		{"consumed, and an operating system asked", resource.AttemptNoDHCP, func(y *play) {
			begun(y)
			y.s.Events = []Event{dhcpBy(protocol.ClassNone, 3*sec)}
			y.read(on, 3*sec+fetchTimeout, nil)
		}},
		{"asked, and fetched nothing", resource.AttemptFetchFailed, func(y *play) {
			begun(y)
			y.s.Events = []Event{dhcpBy(protocol.ClassHTTPClient, 3*sec)}
			y.read(on, 3*sec+fetchTimeout, nil)
		}},
		{"fetched, and nobody reported", resource.AttemptNoReport, func(y *play) {
			begun(y)
			fetches(y, 3*sec)
			y.read(on, 4*sec+installTimeout, nil)
		}},
		{"fetched, and it went Off", resource.AttemptNoReport, func(y *play) {
			begun(y)
			fetches(y, 30*sec)
			y.read(off, 60*sec, nil)
		}},
		{"fetched, and the image says that it failed", resource.AttemptImageFailed, func(y *play) {
			begun(y)
			fetches(y, 3*sec)
			y.s.Events = []Event{{Kind: protocol.EvidenceFailed, Token: "token", At: at(5 * sec), Message: "no disk"}}
			y.read(on, 5*sec, nil)
		}},
		{"its loader was fetched, and something says that it failed", resource.AttemptImageFailed, func(y *play) {
			begun(y)
			y.p.Record.Attempt.Order.Chain = &protocol.BootChain{Kind: protocol.ChainGRUB, First: "shimx64.efi", Last: "initramfs"}
			failed := Event{Kind: protocol.EvidenceFailed, Token: "token", At: at(4 * sec), Message: "no such file"}
			y.s.Events = []Event{failed, {Kind: protocol.EvidenceFetched, File: "grubx64.efi", Token: "token", At: at(3 * sec)}, failed}
			y.read(on, 4*sec, nil)
			if a := y.p.Record.Attempt; !a.Open() || a.Marks.Loaded {
				t.Errorf("before the loader was sent it counts: %+v", a.Stage)
			}
			y.s.Events = []Event{{Kind: protocol.EvidenceFetched, File: "shimx64.efi", Token: "token", At: at(5 * sec)}, failed}
			y.read(on, 5*sec, nil)
		}},
		{"another board before On", resource.AttemptIdentity, func(y *play) {
			y.s.Identity = &Identity{Serial: "S1", UUID: "u1"}
			y.read(off, 0, nil)
			y.s.Identity = &Identity{Serial: "S2", UUID: "u2"}
			y.read(off, sec, y.answered(""))
		}},
		{"held", resource.AttemptWithdrawn, func(y *play) {
			y.read(off, 0, nil)
			y.s.Holds = held(resource.StopSoft, "h")
			y.read(off, sec, y.answered(""))
		}},
		{"the override went, and it is Off", resource.AttemptOutcomeUnknown, func(y *play) {
			y.read(off, 0, nil)
			y.read(off, sec, y.answered(""))
			y.bmc = protocol.Override{}
			y.read(off, 20*sec, y.answered(""))
			y.read(off, 20*sec+onUnseen, nil)
		}},
	} {
		y := story(t, nil)
		tt.tell(y)
		seen[tt.want] = true
		if a := y.p.Record.Attempt; a == nil || a.Stage.State != resource.AttemptFailed || a.Stage.Ending.Code != tt.want {
			t.Errorf("%s, want %s: %+v", tt.name, tt.want, a)
			continue
		}
		if !slices.ContainsFunc(y.p.Happened, func(e resource.Event) bool { return e.Code == resource.EventAttemptFailed }) {
			t.Errorf("%s: happened %v", tt.name, y.p.Happened)
		}
		want := Ended{Purpose: resource.PurposeClaim, Method: y.s.Record.Attempt.Order.Target, Code: tt.want}
		if got := y.p.Measured.Ended; !slices.Equal(got, []Ended{want}) {
			t.Errorf("%s: measured %+v", tt.name, got)
		}
	}
	for _, code := range mediaCodes() { // TestMediaFailures
		seen[code] = true
	}
	seen[resource.AttemptDiverted] = true // TestDivertedMeanwhile
	for _, f := range resource.AttemptFailures() {
		if !seen[f.Code] {
			t.Errorf("nothing here ends with %s", f.Code)
		}
	}
}

// Each state that an attempt comes to is told by an event of its own, also where a crash
// was in between; and the parts between them are measured once each.
func TestEventOfEachState(t *testing.T) {
	const on, off = protocol.PowerOn, protocol.PowerOff
	var told []resource.EventCode
	spans := map[Part]time.Duration{}
	states := map[resource.AttemptState]resource.EventCode{}
	y := story(t, nil)
	step := func(state resource.AttemptState, want ...resource.EventCode) {
		t.Helper()
		var got []resource.EventCode
		for _, e := range y.p.Happened {
			got = append(got, e.Code)
		}
		for _, s := range y.p.Measured.Spans {
			if was, twice := spans[s.Part]; twice {
				t.Errorf("%s took %s and %s", s.Part, was, s.Took)
			}
			spans[s.Part] = s.Took
		}
		told = append(told, got...)
		if a := y.p.Record.Attempt; a == nil || a.Stage.State != state {
			t.Fatalf("at %+v, want %s", a, state)
		}
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: no event %s in %v", state, w, got)
			}
		}
		if _, known := states[state]; !known {
			states[state] = want[0]
		}
	}
	y.read(off, 0, nil)
	step(resource.AttemptPreparing, resource.EventAttemptBegun, resource.EventGrantUsed)
	y.s.Observation = seen(off, sec)
	y.s.Result = y.answered("")
	y.s.Observation.Override = y.bmc
	y.s.Passive = true // the answer alone
	y.step(sec)
	y.s.Passive = false
	step(resource.AttemptArmed, resource.EventArmed)
	y.read(off, 2*sec, nil)
	step(resource.AttemptPowerRequested, resource.EventPowerOn)
	y.s.Events = []Event{dhcpBy(protocol.ClassHTTPClient, 10*sec)}
	y.read(on, 10*sec, y.answered(""))
	step(resource.AttemptConsumed, resource.EventConsumed, resource.EventDHCPSeen)
	fetches(y, 15*sec)
	step(resource.AttemptFetched, resource.EventFetched)
	y.s.Events = []Event{{Kind: protocol.EvidenceInstalled, Token: "token", At: at(100 * sec)}}
	y.read(on, 100*sec, nil)
	step(resource.AttemptSucceeded, resource.EventInstalled, resource.EventProvisioned)

	y.s.NewID, y.s.NewToken = "id-2", "token-2"
	for d := 110 * sec; y.p.Record.Attempt.Order.Target != protocol.TargetHdd; d += 10 * sec {
		if d > 300*sec {
			t.Fatal("no boot from disk")
		}
		var r *Result
		if y.p.Action.Kind != ActNone {
			r = y.answered("")
		}
		y.read(off, d, r)
	}
	if !slices.ContainsFunc(y.p.Happened, func(e resource.Event) bool { return e.Code == resource.EventAttemptBegun }) {
		t.Errorf("a boot from disk begins with %v", y.p.Happened)
	}
	y = story(t, nil)
	begun(y)
	y.read(on, 3*sec+fetchTimeout, nil)
	step(resource.AttemptFailed, resource.EventAttemptFailed)

	for _, s := range resource.AttemptStates() {
		if states[s] == "" {
			t.Errorf("no event tells of %s", s)
		}
	}
	want := map[Part]time.Duration{PartPrepare: 0, PartArm: sec, PartPowerToDHCP: 8 * sec, PartDHCPToFetched: 5 * sec, PartFetchToReport: 85 * sec}
	for _, p := range Parts() {
		if got, ok := spans[p]; !ok || got != want[p] {
			t.Errorf("%s took %s (%t), want %s", p, got, ok, want[p])
		}
	}

	// A crash while the last file was sent: the next step says what was assumed, once.
	y = story(t, nil)
	begun(y)
	y.s.Events = []Event{{Begun: true, Token: "token", At: at(3 * sec)}}
	y.read(on, 3*sec, nil)
	y.restart()
	y.read(on, 4*sec, nil)
	step(resource.AttemptFetched, resource.EventFetched)
	y.read(on, 5*sec, nil)
	if slices.ContainsFunc(y.p.Happened, func(e resource.Event) bool { return e.Code == resource.EventFetched }) {
		t.Error("told twice")
	}
}
