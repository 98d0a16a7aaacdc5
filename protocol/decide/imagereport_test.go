package decide

import (
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func TestImageReportTable(t *testing.T) {
	doctable.Of(t, "imagereport.go", "reportRule").Hold(t,
		[][]string{doctable.Words(reportNone, reportEarly, reportOpen), doctable.YesNo(), doctable.YesNo(), doctable.Words(WhoseOwn, WhoseOther, WhoseNobody, WhoseUnknown)},
		func(in []string) []string {
			return doctable.Words(reportRule(reportStage(in[0]), in[1] == "yes", in[2] == "yes", Whose(in[3])))
		})
}

// TestImageReport: reports count after the files went out to their end, and not sooner than the
// image can have run.
func TestImageReport(t *testing.T) {
	fetched := worldStart
	for _, row := range []struct {
		name   string
		change func(*Attempt, *Pace)
		token  string
		whose  Whose
		want   ReportVerdict
	}{
		{"fetched", func(*Attempt, *Pace) {}, "t", WhoseOwn, ReportTake},
		{"from another's address", func(*Attempt, *Pace) {}, "t", WhoseOther, ReportStranger},
		{"from nobody's", func(*Attempt, *Pace) {}, "t", WhoseNobody, ReportStranger},
		{"from nobody's, of a boot by a URL in the BMC", func(a *Attempt, _ *Pace) { a.Order.URI = true }, "t", WhoseNobody, ReportTake},
		{"from nobody's, of a boot by virtual media", func(a *Attempt, _ *Pace) { a.Order.Target = protocol.TargetCd }, "t", WhoseNobody, ReportTake},
		{"from another's, of a boot by virtual media", func(a *Attempt, _ *Pace) { a.Order.Target = protocol.TargetCd }, "t", WhoseOther, ReportStranger},
		{"by the private token, from anywhere", func(a *Attempt, _ *Pace) { a.Private = "p" }, "p", WhoseOther, ReportTake},
		{"another token", func(*Attempt, *Pace) {}, "u", WhoseOwn, ReportUnknown},
		{"no token", func(a *Attempt, _ *Pace) { a.Token, a.Private = "", "" }, "", WhoseOwn, ReportUnknown},
		{"of a boot from disk", func(a *Attempt, _ *Pace) { a.Order.Target = protocol.TargetHdd }, "t", WhoseOwn, ReportUnknown},
		{"its last file is being sent", func(a *Attempt, _ *Pace) { a.Stage.State = resource.AttemptConsumed }, "t", WhoseOwn, ReportEarly},
		{"the same by the private token", func(a *Attempt, _ *Pace) { a.Private, a.Stage.State = "p", resource.AttemptConsumed }, "p", WhoseOwn, ReportEarly},
		{"sooner than half of what the image took before", func(_ *Attempt, p *Pace) { p.Reports = 3 * time.Minute }, "t", WhoseOwn, ReportEarly},
		{"later", func(_ *Attempt, p *Pace) { p.Reports = time.Minute }, "t", WhoseOwn, ReportTake},
		{"of another image than took so long", func(_ *Attempt, p *Pace) { p.Digest, p.Reports = "sha256:other", 3*time.Minute }, "t", WhoseOwn, ReportTake},
		{"two machines say they are it", func(a *Attempt, _ *Pace) { a.Claimants.Second = &Claimant{} }, "t", WhoseOwn, ReportDisputed},
		{"once more", func(a *Attempt, _ *Pace) { a.Stage.State = resource.AttemptSucceeded }, "t", WhoseOwn, ReportTake},
		{"ended after its files went out", func(a *Attempt, _ *Pace) {
			a.Stage.State, a.Stage.Evidence = resource.AttemptFailed, protocol.EvidenceFetched
		}, "t", WhoseOwn, ReportTake},
		{"ended before", func(a *Attempt, _ *Pace) { a.Stage.State = resource.AttemptFailed }, "t", WhoseOwn, ReportUnknown},
	} {
		a := &Attempt{Token: "t", Marks: Marks{Served: true, Fetched: fetched}, Stage: Stage{State: resource.AttemptFetched}, Order: Order{Target: protocol.TargetUefiHTTP, Digest: "sha256:image"}}
		p := Pace{Digest: "sha256:image"}
		row.change(a, &p)
		if got := Report(a, p, protocol.EvidenceInstalled, row.token, row.whose, fetched.Add(time.Minute)); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
	if got := Report(nil, Pace{}, protocol.EvidenceInstalled, "t", WhoseOwn, fetched); got != ReportUnknown {
		t.Errorf("without a boot: %s", got)
	}
}

// TestFailureReport: that an image cannot go on counts as soon as the boot's loader was sent to
// its end, also before later files, and from nobody of whom another report would not count.
// A report of a success takes all of it.
func TestFailureReport(t *testing.T) {
	loaded := func(change func(*Attempt)) *Attempt {
		a := &Attempt{Token: "t", Marks: Marks{Opened: true, Loaded: true}, Stage: Stage{State: resource.AttemptConsumed}, Order: Order{Target: protocol.TargetUefiHTTP, Digest: "sha256:image"}}
		change(a)
		return a
	}
	plain := func(*Attempt) {}
	for _, row := range []struct {
		name   string
		change func(*Attempt)
		kind   protocol.EvidenceKind
		token  string
		whose  Whose
		want   ReportVerdict
	}{
		{"failed, after the loader", plain, protocol.EvidenceFailed, "t", WhoseOwn, ReportTake},
		{"installed, after the loader", plain, protocol.EvidenceInstalled, "t", WhoseOwn, ReportEarly},
		{"booted, after the loader", plain, protocol.EvidenceBooted, "t", WhoseOwn, ReportEarly},
		{"discovered, after the loader", plain, protocol.EvidenceDiscovered, "t", WhoseOwn, ReportEarly},
		{"failed, before the loader was whole", func(a *Attempt) { a.Marks.Loaded = false }, protocol.EvidenceFailed, "t", WhoseOwn, ReportEarly},
		{"failed, of a stranger", plain, protocol.EvidenceFailed, "t", WhoseOther, ReportStranger},
		{"failed, of one of two", func(a *Attempt) { a.Claimants.Second = &Claimant{} }, protocol.EvidenceFailed, "t", WhoseOwn, ReportDisputed},
		{"failed, with another token", plain, protocol.EvidenceFailed, "u", WhoseOwn, ReportUnknown},
		{"failed, of one that was ended", func(a *Attempt) { a.Stage.State = resource.AttemptFailed }, protocol.EvidenceFailed, "t", WhoseOwn, ReportUnknown},
		{"failed, sooner than an image can have run", func(a *Attempt) { a.Stage.State, a.Marks.Fetched = resource.AttemptFetched, worldStart }, protocol.EvidenceFailed, "t", WhoseOwn, ReportTake},
		{"installed, sooner than it can have run", func(a *Attempt) { a.Stage.State, a.Marks.Fetched = resource.AttemptFetched, worldStart }, protocol.EvidenceInstalled, "t", WhoseOwn, ReportEarly},
	} {
		pace := Pace{Digest: "sha256:image", Reports: 10 * time.Minute}
		if got := Report(loaded(row.change), pace, row.kind, row.token, row.whose, worldStart.Add(time.Second)); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}

// TestBootPace: what was learned only shrinks, and says nothing of another image, nor does a boot
// that somebody disputed.
func TestBootPace(t *testing.T) {
	at := func(d time.Duration) time.Time { return worldStart.Add(d) }
	boots := func(ask, report time.Duration, digest string) *Attempt {
		return &Attempt{Order: Order{Digest: digest}, Stage: Stage{PowerOn: PowerOn{Sent: at(0), Again: at(0)}}, Marks: Marks{Asked: at(ask), Fetched: at(ask)}}
	}
	var r Record
	learn := func(ask, report time.Duration, digest string, change func(*Attempt)) {
		a := boots(ask, report, digest)
		change(a)
		r.learns(a, at(ask+report))
	}
	plain := func(*Attempt) {}
	learn(40*time.Second, time.Minute, "a", plain)
	learn(60*time.Second, time.Second*50, "a", plain)
	if want := (Pace{Asks: 40 * time.Second, Reports: 50 * time.Second, Digest: "a"}); r.Pace != want {
		t.Errorf("%+v, want %+v", r.Pace, want)
	}
	learn(time.Second, time.Second, "a", func(a *Attempt) { a.Claimants.Foreign = &Claimant{} })
	learn(time.Second, time.Second, "a", func(a *Attempt) { a.Claimants.Second = &Claimant{} })
	learn(-time.Second, time.Second, "b", plain) // the clock was set
	if want := (Pace{Asks: 40 * time.Second, Reports: time.Second, Digest: "b"}); r.Pace != want {
		t.Errorf("%+v, want %+v", r.Pace, want)
	}
	r.Attempt = boots(0, 0, "b")
	if r.Start() != (Start{}) || !r.Start().Early(at(time.Hour)) {
		t.Error("the BMC has not taken the On, and the server may ask")
	}
	r.Shown.Epoch = 1
	if s := r.Start(); !s.Early(at(19*time.Second)) || s.Early(at(20*time.Second)) || s.Early(at(-time.Minute)) {
		t.Errorf("%+v", s)
	}
}
