package decide

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func TestMediumTable(t *testing.T) {
	doctable.Of(t, "media.go", "mediumRule").HoldOne(t, [][]string{
		doctable.Words(mediumPrepared, mediumNeeded, mediumRuns, mediumStops, mediumOver), doctable.Words(isOff, isOn, isOther),
		doctable.Words(MediumInserting, MediumIn, MediumOut),
	}, func(in []string) string {
		return string(mediumRule(mediumBoot(in[0]), running(in[1]), MediumState(in[2])))
	})
}

func TestInsertTable(t *testing.T) {
	codes := []string{"none"}
	for _, c := range []protocol.Code{protocol.CodeUnsupported, protocol.CodeUnavailable, protocol.CodeTimeout, protocol.CodeInvalid, protocol.CodeConflict, protocol.CodeDenied} {
		codes = append(codes, string(c))
	}
	doctable.Of(t, "media.go", "insertRule").HoldOne(t, [][]string{codes, doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		return string(insertRule(protocol.Code(strings.TrimPrefix(in[0], "none")), in[1] == "yes", in[2] == "yes"))
	})
}

func TestMediaCodeTable(t *testing.T) {
	var codes []resource.AttemptCode
	for _, f := range resource.AttemptFailures() {
		codes = append(codes, f.Code)
	}
	doctable.Of(t, "media.go", "mediaCode").HoldOne(t, [][]string{doctable.Words(codes...), doctable.YesNo()}, func(in []string) string {
		if is := mediaCode(resource.AttemptCode(in[0]), in[1] == "yes"); string(is) != in[0] {
			return string(is)
		}
		return "the same"
	})
}

// media is a world whose claim boots by virtual media.
func media(t judge) *world {
	w := newWorld(t)
	w.claim(3)
	w.byMedia()
	return w
}

// TestMediaBoot: the medium goes in, before the override as the witness checks, and out
// after the report; the disk boots without it.
func TestMediaBoot(t *testing.T) {
	for _, caches := range []bool{false, true} {
		w := media(t)
		w.m.caches = caches
		w.until("the medium is in", func() bool { return w.m.medium != "" })
		w.until("booted from disk", func() bool { return w.booted() && !w.record().Attempt.Network() })
		if rec := w.record(); w.m.medium != "" || rec.Residue.Medium() != nil || w.provisioned().Evidence != protocol.EvidenceInstalled {
			t.Fatalf("caches %t: medium %q, %s", caches, w.m.medium, w.disk)
		}
	}
}

// TestMediaCrashes ends the agent at every moment of a boot by virtual media: it is
// installed at most once, the medium comes out, and a condition says what is not well.
func TestMediaCrashes(t *testing.T) {
	n := 0
	for _, caches := range []bool{false, true} {
		for crash := 1; ; crash++ {
			w := media(t)
			w.m.caches, w.crashIn, w.ids = caches, crash, 0
			installs := 0
			installed := w.m.installed
			w.m.installed = func() bool { installs++; return installed() }
			w.until("crashed, or installed", func() bool { return w.crashIn == 0 || w.provisioned() != nil })
			if w.crashIn != 0 {
				break
			}
			n++
			w.heard = true
			w.settled()
			if rec := w.record(); w.m.medium != "" || rec.Residue.Medium() != nil {
				t.Fatalf("crash %d, caches %t: medium %q stays in: %s", crash, caches, w.m.medium, w.disk)
			}
			if w.provisioned() == nil && len(w.conds) == 0 {
				t.Fatalf("crash %d, caches %t: nothing says why it is not installed: %s", crash, caches, w.disk)
			}
		}
	}
	if n < 40 {
		t.Errorf("%d moments", n)
	}
}

// What somebody else inserted stays, and the boot goes on when it is gone, without an
// attempt of the grant being spent on it.
func TestMediaOccupied(t *testing.T) {
	w := media(t)
	w.m.foreign = true
	w.until("said so", func() bool { return w.has(resource.CondMediaOccupied) })
	w.run(time.Hour)
	if rec := w.record(); !w.m.foreign || w.m.power != protocol.PowerOff || w.m.override.Armed() || rec.Attempt.Number != 1 || !w.has(resource.CondMediaOccupied) {
		t.Fatalf("%+v, %s, conditions %+v", w.m.override, w.disk, w.conds)
	}
	w.m.foreign = false
	w.until("booted from disk", func() bool { return w.booted() && !w.record().Attempt.Network() })
	if w.has(resource.CondMediaOccupied) {
		t.Error("it is still said")
	}
}

// mediaCodes are those of boots by virtual media alone.
func mediaCodes() []resource.AttemptCode {
	return []resource.AttemptCode{resource.AttemptMediaRefused, resource.AttemptMediaNotRead}
}

// TestMediaFailures: each ends the attempt with its code, and the medium comes out.
func TestMediaFailures(t *testing.T) {
	seen := map[resource.AttemptCode]bool{}
	for name, row := range map[string]struct {
		set  func(*world)
		code resource.AttemptCode
		want resource.ConditionCode
	}{
		"no drive":            {func(w *world) { w.m.faults.NoMedia = true }, resource.AttemptMediaRefused, resource.CondFirstBootFailed},
		"no answer":           {func(w *world) { w.m.faults.LoseAnswers = true }, resource.AttemptMediaRefused, resource.CondFirstBootFailed},
		"firmware skips it":   {func(w *world) { w.m.mediaboot = func() (time.Duration, bool) { return 0, false } }, resource.AttemptMediaNotRead, resource.CondFirstBootFailed},
		"somebody ejects it":  {func(w *world) { w.until("Armed", w.armed); w.m.medium = "" }, resource.AttemptMediaNotRead, resource.CondFirstBootFailed},
		"the installer hangs": {func(w *world) { w.m.hang = true; w.run(2 * time.Hour) }, resource.AttemptNoReport, resource.CondGrantSpent},
	} {
		w := media(t)
		row.set(w)
		w.until(name+": failed", func() bool { a := w.record().Attempt; return a != nil && a.Stage.State == resource.AttemptFailed })
		seen[row.code] = true
		if a := w.record().Attempt; a.Stage.Ending.Code != row.code {
			t.Errorf("%s: %s, %s", name, a.Stage.Ending.Code, a.Stage.Ending.Reason)
		}
		w.until(name+": said so", func() bool { return w.has(row.want) })
		w.m.faults = faults{}
		if row.code == resource.AttemptNoReport {
			w.until(name+": ejected", func() bool { return w.m.medium == "" && w.record().Residue.Medium() == nil })
		}
	}
	for _, c := range mediaCodes() {
		if !seen[c] {
			t.Errorf("nothing here ends with %s", c)
		}
	}
}

// A BMC that does not eject stops neither boots from disk nor the end of a claim.
func TestMediaNotEjected(t *testing.T) {
	w := media(t)
	w.m.faults.KeepMedia = true
	w.until("booted from disk", func() bool { return w.booted() && !w.record().Attempt.Network() })
	if w.m.medium == "" || !w.has(resource.CondMediaNotEjected) {
		t.Fatalf("medium %q, %+v", w.m.medium, w.conds)
	}
	if MayReadMedium(false, false, w.record().Attempt, w.record().Residue.Medium(), w.m.medium) {
		t.Error("it is served all the same")
	}
	w.want(func(in *message.ServerIntent) { in.Releasing, in.Power, in.Boot = true, resource.WantOff, nil })
	w.until("released", func() bool { return w.record().Owners.Released == w.intent.Owner.UID })
	w.m.faults = faults{}
	w.until("ejected at last", func() bool { return w.m.medium == "" && w.record().Residue.Medium() == nil })
}

// A maintenance runs from the drive: it stays in while it runs, under a hold until the
// receipt is there, and comes out when the server is Off.
func TestMediaMaintenance(t *testing.T) {
	w := newWorld(t)
	w.claim(1)
	w.until("installed and booted from disk", func() bool { return w.booted() && !w.record().Attempt.Network() })
	w.m.live = true
	w.maintain(resource.WantOn, 2)
	w.byMedia()
	w.until("runs from the drive", w.booted)
	w.run(time.Hour)
	if rec := w.record(); w.m.medium == "" || !MayReadMedium(false, false, rec.Attempt, rec.Residue.Medium(), w.m.medium) {
		t.Fatalf("medium %q, %s", w.m.medium, w.disk)
	}
	w.hold(resource.StopSoft)
	w.until("fenced, and ejected", func() bool { return len(w.record().Holds.Receipts) == 1 && w.m.medium == "" })
	w.release(0)
	w.until("runs from the drive again", func() bool { return w.booted() && w.m.medium != "" })
	w.want(func(in *message.ServerIntent) { in.Releasing, in.Power, in.Boot = true, resource.WantOff, nil })
	w.until("released", func() bool { return w.record().Owners.Released == w.intent.Owner.UID })
	if w.m.medium != "" {
		t.Fatal("the medium outlives the maintenance")
	}
	w.giveBack()
	w.until("back at the claim", func() bool { return w.booted() && !w.record().Attempt.Network() })
}

// Without a way for the BMC to fetch it, or a driver, nothing is begun.
func TestMediaUnsupported(t *testing.T) {
	w := media(t)
	s := w.snapshot()
	s.MediaError = "the driver of this BMC has no virtual media"
	s.Observation = &protocol.Observation{Power: protocol.PowerOff, StartedAt: w.clock(), ReadAt: w.clock(), Override: disarmed()}
	p := Step(w.clock(), s)
	if p.Record.Attempt != nil || p.Action.Kind != ActNone || !slices.ContainsFunc(p.Record.Conditions, func(c resource.ConditionState) bool {
		return c.Code == resource.CondUnsupportedBoot && strings.Contains(c.Message, s.MediaError)
	}) {
		t.Errorf("%+v %+v", p.Action, p.Record.Conditions)
	}
}

func (w *world) armed() bool {
	a := w.record().Attempt
	return a != nil && a.Stage.State == resource.AttemptPowerRequested
}

// Who may read a medium, by what it is for.
func TestMayReadMedium(t *testing.T) {
	m := &Medium{Attempt: "a", Token: "m", State: MediumIn}
	on := &Attempt{ID: "a", Token: "t", Stage: Stage{PowerOn: PowerOn{Sent: worldStart}}, Marks: Marks{Served: true}}
	failed := &Attempt{ID: "a", Token: "t", Stage: Stage{State: resource.AttemptFailed, PowerOn: PowerOn{Sent: worldStart}}}
	for name, row := range map[string]struct {
		held, missing bool
		a             *Attempt
		m             *Medium
		token         string
		want          bool
	}{
		"before the power-on":                 {false, false, &Attempt{ID: "a"}, m, "m", true},
		"running":                             {false, false, on, m, "m", true},
		"held while it runs":                  {true, false, on, m, "m", true},
		"held before the power-on":            {true, false, &Attempt{ID: "a"}, m, "m", false},
		"left out of the newest document":     {false, true, on, m, "m", false},
		"by the attempt's token":              {false, false, on, m, "t", false},
		"no token":                            {false, false, on, &Medium{Attempt: "a"}, "", false},
		"of another attempt":                  {false, false, &Attempt{ID: "b", Stage: Stage{PowerOn: PowerOn{Sent: worldStart}}}, m, "m", false},
		"after an end in which nothing began": {false, false, failed, m, "m", false},
		"no attempt":                          {false, false, nil, m, "m", false},
		"to be ejected":                       {false, false, on, &Medium{Attempt: "a", Token: "m", State: MediumOut}, "m", false},
		"no medium":                           {false, false, on, nil, "m", false},
	} {
		if got := MayReadMedium(row.held, row.missing, row.a, row.m, row.token); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// provisioned is the record of the first claim.
func (w *world) provisioned() *resource.Provisioned {
	rec := w.record()
	return rec.ProvisionedFor("claim-1", 1)
}
