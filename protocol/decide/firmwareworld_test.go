package decide

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// wantSettings gives the server to a maintenance that writes settings of its firmware.
func (w *world) wantSettings(set ...resource.FirmwareWanted) {
	if w.intent == nil || w.aside != nil || w.intent.Releasing {
		return
	}
	w.maintain(resource.WantOn, 1)
	if w.aside != nil && w.intent.Owner.Kind == resource.PurposeMaintenance {
		in := *w.intent
		in.Boot, in.Settings = nil, &message.SettingsIntent{Want: set}
		w.intent, w.grant = &in, nil
	}
}

func setTo(where, value string) resource.FirmwareWanted {
	return resource.FirmwareWanted{Setting: strings.ToLower(where), Where: where, Value: value}
}

// firmwareAct is a BMC that shows all settings, and keeps what is written until the end of POST.
func (w *world) firmwareAct(a Action, r *Result) {
	r.Firmware = &FirmwareAnswer{}
	if w.w.settingsSent != nil {
		w.w.settingsSent(a.Kind)
	}
	if w.m.shown() == protocol.PowerUnreachable {
		r.Code = protocol.CodeTimeout
		return
	}
	if a.Kind == ActReadFirmware {
		f := protocol.Firmware{Writable: true, Setup: protocol.OfferedYes}
		for name, value := range w.m.set {
			v := protocol.FirmwareValue{Name: name, Value: value, Waits: w.m.waits[name]}
			f.Attributes = append(f.Attributes, protocol.FirmwareAttribute{FirmwareValue: v, Asked: name})
		}
		r.Firmware.Shown = f
		return
	}
	w.w.writes[w.intent.Owner.UID]++
	r.Firmware.Took = map[string]FirmwareTook{}
	for _, c := range a.Firmware.Changes {
		switch {
		case w.m.set[c.Where] == c.Wanted && w.m.waits[c.Where] == "":
			r.Firmware.Took[c.Where] = FirmwareTookNow
		default:
			w.m.waits[c.Where] = c.Wanted
			r.Firmware.Took[c.Where] = FirmwareTookNext
		}
	}
	if w.m.faults.LoseAnswers {
		r.Firmware.Took, r.Code = nil, protocol.CodeTimeout
	}
}

// settings checks that settings are written at Off only, by their owner, in nobody's power-on, never under a
// hold, and after what was before is on disk.
func (x *witness) settings(s Snapshot, p Plan) {
	run, k := p.Record.Owners.Firmware, p.Action.Kind
	switch {
	case len(s.Holds) > 0:
		x.t.Fatalf("P2: %s under a hold", k)
	case run == nil || s.Intent == nil || s.Intent.Settings == nil || run.OwnerUID != s.Intent.Owner.UID || run.Stage.Over():
		x.t.Fatalf("%s without a run of the owner: %+v", k, run)
	case p.Record.Attempt.Open():
		x.t.Fatalf("P6: %s in a power-on", k)
	case k == ActReadFirmware:
		return
	case p.Watch.Last.Power != protocol.PowerOff || !p.Persist || s.HubTime.IsZero():
		x.t.Fatalf("written while %s, persisted %t, hub %v", p.Watch.Last.Power, p.Persist, s.HubTime)
	case x.writes[run.OwnerUID] >= firmwarePasses*firmwareTries:
		x.t.Fatalf("written %d times", x.writes[run.OwnerUID])
	}
	for _, set := range run.Settings { // the record is on disk before the action
		if was := x.before[run.OwnerUID][set.Where]; set.Before == "" || was != "" && was != set.Before {
			x.t.Fatalf("%s is written, and what is kept is %q, not %q", set.Where, set.Before, was)
		} else if was == "" {
			if x.before[run.OwnerUID] == nil {
				x.before[run.OwnerUID] = maps.Clone(x.world.m.set)
			}
		}
	}
}

func (w *world) fwRun() *resource.FirmwareRun { return w.record().Owners.Firmware }

func (w *world) over() bool {
	r := w.fwRun()
	return r != nil && r.OwnerUID == w.intent.Owner.UID && r.Stage.Over() && w.m.power == protocol.PowerOff
}

// fingerprint is a run for comparing.
func fingerprint(r *resource.FirmwareRun) string {
	var out []string
	for _, s := range r.Settings {
		out = append(out, fmt.Sprintf("%s:%s->%s=%s/%s", s.Where, s.Before, s.Value, s.Now, s.Standing))
	}
	return fmt.Sprintf("%s%s %d %s", r.Stage, r.Code, r.Passes, strings.Join(out, " "))
}

// installed is a world whose server runs the system of a claim.
func installed(t *testing.T) *world {
	w := newWorld(t)
	w.claim(1)
	w.until("installed and booted from disk", func() bool { return w.booted() && !w.record().Attempt.Network() })
	return w
}

// Settings are written at Off, taken by one POST that boots nothing, and read back; what was is kept, and a second
// run with that puts it back. Then the claim has its server again.
func TestSettings(t *testing.T) {
	w := installed(t)
	fetches := len(w.w.fetched)
	w.wantSettings(setTo("Quiet", "Off"), setTo("Web", "https://new?token=n"))
	w.until("written", w.over)
	if got := fingerprint(w.fwRun()); got != "Succeeded 1 Quiet:On->Off=Off/in-force Web:https://old?token=t->https://new?token=n=https://new?token=n/in-force" {
		t.Fatal(got)
	}
	if w.m.os || len(w.w.fetched) != fetches || w.w.writes[w.intent.Owner.UID] != 1 {
		t.Fatalf("os %t, %d writes", w.m.os, w.w.writes[w.intent.Owner.UID])
	}
	w.run(time.Hour)
	if w.m.power != protocol.PowerOff || w.w.writes[w.intent.Owner.UID] != 1 {
		t.Fatal("it went on after its end")
	}
	for _, e := range w.told {
		if strings.Contains(e.Message, "token=") {
			t.Errorf("%s has a value: %s", e.Code, e.Message)
		}
	}
	was := w.fwRun()
	w.letGo()
	w.wantSettings(setTo("Quiet", was.Settings[0].Before), setTo("Web", was.Settings[1].Before))
	w.until("put back", w.over)
	if w.m.set["Quiet"] != "On" || w.m.set["Web"] != "https://old?token=t" {
		t.Fatalf("%v", w.m.set)
	}
	w.letGo()
	w.until("the claim's system runs", w.booted)
}

// letGo ends the maintenance.
func (w *world) letGo() {
	w.want(func(in *message.ServerIntent) { in.Releasing, in.Power, in.Settings = true, resource.WantOff, nil })
	w.until("let go", func() bool { return w.record().Owners.Released == w.intent.Owner.UID })
	w.giveBack()
}

// Where all is so already, nothing is powered on.
func TestSettingsInForce(t *testing.T) {
	w := installed(t)
	epoch := w.record().Shown.Epoch
	w.wantSettings(setTo("Quiet", "On"))
	w.until("over", w.over)
	if got := fingerprint(w.fwRun()); got != "Succeeded 0 Quiet:On->On=On/in-force" || w.record().Shown.Epoch != epoch {
		t.Fatal(got)
	}
}

// Firmware that takes nothing: it is said which setting is not in force, and nothing is tried again.
func TestSettingsNotTaken(t *testing.T) {
	w := installed(t)
	w.m.deaf = true
	w.wantSettings(setTo("Quiet", "Off"))
	w.until("over", w.over)
	if got := fingerprint(w.fwRun()); got != "Failednot-in-force 1 Quiet:On->Off=On/not-taken" {
		t.Fatal(got)
	}
	if c := w.conds; len(c) == 0 || !strings.Contains(fmt.Sprint(c), "FirmwareNotWritten") || strings.Contains(fmt.Sprint(c), "Off=") {
		t.Fatalf("%+v", c)
	}
	w.run(time.Hour)
	if w.w.writes[w.intent.Owner.UID] != 1 {
		t.Fatal("written again")
	}
}

// A setting that the BMC does not show keeps the others from being written.
func TestSettingsHindered(t *testing.T) {
	w := installed(t)
	w.wantSettings(setTo("Quiet", "Off"), setTo("Loud", "On"))
	w.until("over", w.over)
	if got := fingerprint(w.fwRun()); got != "Failedhindered 0 Quiet:On->Off=On/wanted Loud:->On=/hindered" || w.w.writes[w.intent.Owner.UID] != 0 {
		t.Fatal(got)
	}
}

// A hold at any moment stops it, and it goes on after the release; a crash at any moment changes nothing in
// the end. What was before stays what it was.
func TestSettingsInterrupted(t *testing.T) {
	total := 0
	for at := 1; at == 1 || at <= total; at += 7 {
		for _, what := range []string{"hold", "crash"} {
			w := installed(t)
			w.moments, w.at = 0, at
			w.then = func() {
				if what == "crash" {
					w.crashIn = 1
					return
				}
				w.hold(resource.StopHard)
			}
			w.wantSettings(setTo("Quiet", "Off"))
			if what == "crash" {
				w.until("over", func() bool { w.heard = true; return w.over() })
			} else {
				w.until("held or over", func() bool { return len(w.record().Holds.Receipts) == 1 || w.over() && w.moments > 2000 })
				if len(w.holds) > 0 {
					w.release(0)
				}
				w.until("over", w.over)
			}
			if total == 0 {
				total = 400
			}
			if r := w.fwRun(); r.Stage != resource.FirmwareSucceeded || r.Settings[0].Before != "On" || r.Passes > 2 {
				t.Fatalf("%s at %d: %s", what, at, fingerprint(r))
			}
		}
	}
}

// Where the agent knows a destructive key, settings are written by an approval of these very settings only.
func TestSettingsAreApproved(t *testing.T) {
	want := []resource.FirmwareWanted{setTo("Quiet", "Off")}
	for name, row := range map[string]struct {
		change func(*Snapshot, *resource.Approval)
		begins bool
	}{
		"of these":               {func(*Snapshot, *resource.Approval) {}, true},
		"of another class":       {func(_ *Snapshot, a *resource.Approval) { a.Class = resource.ApproveWipe }, false},
		"of another server":      {func(_ *Snapshot, a *resource.Approval) { a.Boots[0].Server = "server-2" }, false},
		"of another maintenance": {func(_ *Snapshot, a *resource.Approval) { a.Boots[0].Owner = "other" }, false},
		"of nobody's":            {func(s *Snapshot, a *resource.Approval) { a.Boots[0].Owner, s.Intent.Owner.UID = "", "" }, false},
		"of other settings":      {func(_ *Snapshot, a *resource.Approval) { a.Boots[0].Settings = resource.SettingsDigest(nil) }, false},
		"that names nothing":     {func(_ *Snapshot, a *resource.Approval) { a.Boots = nil }, false},
		"without, and no key":    {func(s *Snapshot, a *resource.Approval) { s.Bulk.Key, a.Boots = false, nil }, true},
	} {
		s := Snapshot{
			Server: "server-1", Synced: true, HubTime: worldStart, NewID: "a1", Settings: Settings{PollInterval: time.Minute}, Bulk: Bulk{Key: true},
			Intent: &message.ServerIntent{
				Server: "server-1", Owner: resource.Owner{Kind: resource.PurposeMaintenance, UID: "m"}, Power: resource.WantOn, PowerCycle: true,
				Settings: &message.SettingsIntent{Want: want},
			},
			Observation: &protocol.Observation{Server: "server-1", StartedAt: worldStart, ReadAt: worldStart, Power: protocol.PowerOff, Override: disarmed()},
		}
		a := resource.Approval{ID: "ap", Class: resource.ApproveFirmware, Boots: []resource.ApprovedBoot{{Server: "server-1", Owner: "m", Settings: resource.SettingsDigest(want)}}}
		row.change(&s, &a)
		s.Approved = []resource.Approval{a}
		p := Step(worldStart, s)
		begun := p.Record.Owners.Firmware != nil
		said := false
		for _, c := range p.Record.Conditions {
			said = said || c.Code == resource.CondFirmwareNotApproved
		}
		if begun != row.begins || said == row.begins || begun && s.Bulk.Key && p.Spent != "ap" || !begun && (p.Spent != "" || p.Action.Kind != ActNone) {
			t.Errorf("an approval %s: begun %t, said %t, spent %q, %s", name, begun, said, p.Spent, p.Action.Kind)
		}
	}
}

// A run whose record is lost is not begun again.
func TestSettingsOnce(t *testing.T) {
	w := installed(t)
	w.wantSettings(setTo("Quiet", "Off"))
	w.until("over", w.over)
	r := w.record()
	r.Owners.Firmware = nil
	w.save(r)
	writes := w.w.writes[w.intent.Owner.UID]
	w.poke()
	w.run(time.Hour)
	if w.fwRun() != nil || w.w.writes[w.intent.Owner.UID] != writes || !strings.Contains(fmt.Sprint(w.conds), "GrantSpent") {
		t.Fatalf("%+v, %+v", w.fwRun(), w.conds)
	}
}

// What a hold has set of the power restore policy is put back before settings are read or written after it: neither counts as
// the other's. The hold comes while settings are read, or while they are written.
func TestSettingsAfterAHold(t *testing.T) {
	for _, at := range []ActionKind{ActReadFirmware, ActWriteFirmware} {
		w := installed(t)
		held := false
		w.w.settingsSent = func(k ActionKind) {
			switch {
			case !held && k == at:
				held = true
				w.hold(resource.StopHard)
			case held && len(w.holds) == 0 && w.m.policy != w.m.own:
				t.Errorf("%s while the policy is %s", k, w.m.policy)
			}
		}
		w.wantSettings(setTo("Quiet", "Off"))
		w.until("held", func() bool { return len(w.record().Holds.Receipts) == 1 && w.m.policy == protocol.RestoreAlwaysOff })
		w.release(0)
		w.until("over", w.over)
		if r := w.fwRun(); r.Stage != resource.FirmwareSucceeded {
			t.Fatal(fingerprint(r))
		}
	}
}
