package bootimages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rackboot/protocol/resource"
)

func stub(name, digest string) *resource.IgnitionRef {
	return &resource.IgnitionRef{Secret: name, UID: "uid-" + name, Version: 1, Digest: digest}
}

// Row 21: numbered revisions with cause and parent, none where nothing differs.
func TestRevision(t *testing.T) {
	a, b := entry("1.0"), entry("2.0")
	now := revision(4, a, "a")
	base := Next{Group: group(func(g *resource.ServerGroup) { g.Status.Revision = 4 }), Current: now, History: []*resource.GroupRevision{now}, Entry: a, Images: images("a"), At: day(), By: "hub"}
	if got := Revision(base); got != nil {
		t.Errorf("nothing differs: %+v", got)
	}
	base.Entry, base.Images = b, images("b")
	got := Revision(base)
	if got == nil || got.Number != 5 || got.Parent != 4 || got.Cause != resource.CauseCatalogue || got.Version != "2.0" || got.GroupUID != "uid-g" {
		t.Errorf("%+v", got)
	}
	base.Entry, base.Images, base.Stub = a, images("a"), StubSeen{Stub: stub("s-spec-3-managed", "d2"), Original: stub("s", "d1")}
	if got = Revision(base); got == nil || got.Cause != resource.CauseStub || got.Stub.Secret != "s-spec-3-managed" || got.OriginalStub.Secret != "s" {
		t.Errorf("%+v", got)
	}
	// A number is never used again, whatever the status says.
	base.Group.Status.Revision = 2
	if got = Revision(base); got.Number != 5 {
		t.Errorf("number %d", got.Number)
	}
	own := revision(4, nil, "c")
	base.Group, base.Current, base.Entry, base.Images = group(adopted("mine", "mine")), own, b, images("b")
	if got = Revision(base); got == nil || got.Cause != resource.CauseAdopt {
		t.Errorf("%+v", got)
	}
}

// A return copies image and user data as one pair, pins the group and rejects what it
// came from; doing it twice is doing it once.
func TestRollback(t *testing.T) {
	a, b := entry("1.0"), entry("2.0")
	r1, r2 := revision(1, a, "a"), revision(2, b, "b")
	r1.Spec.Stub, r1.Spec.StubVersion = stub("s", "d"), "3.1.0"
	g := group(func(g *resource.ServerGroup) { g.Status.Revision = 2 })
	spec := Rollback(Next{Group: g, Current: r2, History: []*resource.GroupRevision{r1, r2}, By: "ann", Reason: "no disk", At: day()}, r1, resource.CauseRollback)
	if spec.Number != 3 || spec.CopyOf != 1 || spec.Parent != 2 || spec.Version != "1.0" || spec.Stub.Digest != "d" || spec.StubVersion != "3.1.0" || Value(spec.Images) != Value(r1.Spec.Images) {
		t.Errorf("%+v", spec)
	}
	next := &resource.GroupRevision{Spec: *spec}
	once := Applied(g.Status, next, r2)
	twice := Applied(once, next, r2)
	for _, s := range []resource.ServerGroupStatus{once, twice} {
		if s.Revision != 3 || s.Pinned == nil || s.Pinned.Revision != 3 || s.Pinned.By != "ann" || len(s.Rejected) != 1 || s.Rejected["os-2-0"].Revision != 2 {
			t.Errorf("%+v", s)
		}
	}
	if len(g.Status.Rejected) != 0 {
		t.Error("the status that it began with was changed")
	}
}

func TestDiff(t *testing.T) {
	a, b := revision(1, entry("1.0"), "a"), revision(2, entry("2.0"), "b")
	b.Spec.Stub = stub("s", "d9")
	var got []string
	for _, c := range Diff(a, b) {
		got = append(got, c.Field)
	}
	if strings.Join(got, " ") != "bootImage version images[amd64] stub" {
		t.Error(got)
	}
	if d := Diff(a, a); len(d) != 0 {
		t.Error(d)
	}
}

// Row 19: more than three applications within a day hold the group; so many in a year do
// not; another value begins anew; what is held stays so.
func TestHotLoop(t *testing.T) {
	for name, c := range map[string]struct {
		pause  time.Duration
		values string // one letter for each application
		want   string // a or h for each
	}{
		"a fight":                 {time.Minute, "aaaa", "aaah"},
		"four edits in a year":    {90 * 24 * time.Hour, "aaaa", "aaaa"},
		"one a day":               {24 * time.Hour, "aaaaa", "aaaaa"},
		"another value":           {time.Minute, "aabbb", "aaaaa"},
		"held whatever the value": {time.Minute, "aaaab", "aaahh"},
		"held longer than a day":  {8*time.Hour - time.Minute, "aaaaaaaa", "aaahhhhh"},
	} {
		var was *resource.HotLoop
		now, got := day(), ""
		for _, v := range c.values {
			what, next := HotLoop(was, string(v), now)
			got += string(what)[:1]
			was, now = &next, now.Add(c.pause)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if what, _ := HotLoop(&resource.HotLoop{Value: "a", Times: []string{"x", "y", "z"}}, "a", day()); what != LoopHolds {
		t.Error("times that cannot be read count")
	}
}

// The limit, and beyond it the current one, the last verified, what is in flight and what
// is used.
func TestKeep(t *testing.T) {
	var history []*resource.GroupRevision
	for n := range 12 {
		history = append(history, revision(n+1, nil, "a"))
	}
	g := group(func(g *resource.ServerGroup) {
		g.Spec.HistoryLimit = 3
		g.Status.Revision, g.Status.Verified = 12, 2
		g.Status.Rollout = &resource.RolloutStatus{Revision: 12, From: 5, Phase: resource.RolloutCanary}
	})
	keep := Keep(g, history, map[int]bool{7: true})
	got := ""
	for n := range 12 {
		if keep[n+1] {
			got += fmt.Sprint(" ", n+1)
		}
	}
	if got != " 2 5 7 10 11 12" {
		t.Error(got)
	}
	g.Status.Rollout.Phase = resource.RolloutCompleted
	if keep = Keep(g, history, nil); keep[5] || keep[7] {
		t.Error("what is over is kept")
	}
}

// Row 20: the oldest over all groups, skipped ones too; what cannot be compared is a
// violation.
func TestSkew(t *testing.T) {
	auto := resource.SkewSpec{Mode: resource.SkewAutomatic, Limits: map[string]string{"stable": "9.2", "edge": "5"}}
	used := []InUse{
		{"fine", "n1", "stable", "9.10.1"},
		{"old", "n2", "stable", "9.1"},
		{"old", "n3", "stable", "8.9"},
		{"old", "n4", "stable", "9.4"},
		{"unknown", "n5", "stable", ""},
		{"unknown", "n6", "stable", "1.0"},
		{"recorded", "", "edge", "4.9"},
		{"free", "n7", "other", ""},
	}
	got := Skew(auto, used)
	for g, want := range map[string]string{"old": "server n3: version 8.9", "unknown": `server n5: version ""`, "recorded": "the next server that boots: version 4.9 of edge"} {
		if !strings.Contains(got[g], want) {
			t.Errorf("%s: %q", g, got[g])
		}
	}
	if len(got) != 3 {
		t.Errorf("%v", got)
	}
	manual := resource.SkewSpec{Mode: resource.SkewManual, Limits: auto.Limits, Versions: map[string]string{"stable": "9.2"}}
	if got = Skew(manual, used); len(got) != 1 || !strings.Contains(got["recorded"], "spec.skew.versions") {
		t.Errorf("manual: %v", got)
	}
	if got = Skew(resource.SkewSpec{Mode: resource.SkewNone}, used); len(got) != 0 {
		t.Errorf("none: %v", got)
	}
}

// Rows 16 and 18: every cause is named; opt-out clears.
func TestConditions(t *testing.T) {
	bad := State{
		Enrolment: resource.Enrolment{Managed: true},
		Checked:   Checked{Failed: []resource.ConditionState{{Code: resource.CondImagesDegraded, Message: "no arm64"}, {Code: resource.CondStubRefused, Message: "networkd"}}},
		Failing:   []string{"server n4: deadline"},
	}
	text := func(s State) (out string) {
		for _, c := range Conditions(s) {
			out += string(c.Code) + "=" + c.Message + "\n"
		}
		return out
	}
	got := text(bad)
	if !strings.Contains(got, "BootImageUpdateDegraded=no arm64; StubRefused: networkd; server n4: deadline") || !strings.Contains(got, "StubRefused=networkd") {
		t.Error(got)
	}
	out := State{Enrolment: resource.Enrolment{Skipped: resource.SkipOptedOut}, Failing: bad.Failing}
	if got = text(out); got != "" {
		t.Errorf("opted out: %s", got)
	}
	held := State{Enrolment: resource.Enrolment{Managed: true}, HotLoop: &resource.HotLoop{Held: true, Count: 3, Writer: "argocd"}, Skew: "server n1: version 1"}
	if got = text(held); !strings.Contains(got, "BootImageUpdateDegraded=") || !strings.Contains(got, "GroupHotLoop=3 times") || !strings.Contains(got, "argocd") || !strings.Contains(got, "BootImageSkew") {
		t.Error(got)
	}
	skipped := State{Enrolment: resource.Enrolment{Skipped: resource.SkipOwner, Message: "argocd/site-7 manages it"}, Waits: "x"}
	if got = text(skipped); got != "GroupSkipped=argocd/site-7 manages it\n" {
		t.Error(got)
	}
	waits := State{Enrolment: resource.Enrolment{Managed: true}, Waits: "pinned to revision 3 by ann", Stamp: "no server has booted os-1 yet", Rollout: &resource.RolloutStatus{Revision: 3, Phase: resource.RolloutCanary, Waves: 2}}
	if got = text(waits); !strings.Contains(got, "Deferred=pinned") || !strings.Contains(got, "WaitingForStamp=no server") || !strings.Contains(got, "Progressing=revision 3, Canary, wave 0 of 2") {
		t.Error(got)
	}
}

// Who may try what nobody has booted: whom the roll-out of that revision names as a canary, or has begun.
func TestCanary(t *testing.T) {
	if Canary(group(), "n1") {
		t.Error("before a roll-out has begun")
	}
	out := group(func(g *resource.ServerGroup) {
		g.Status.Revision = 2
		g.Status.Rollout = &resource.RolloutStatus{Revision: 2, Members: map[string]resource.RolloutMember{"n1": {}, "n2": {Wave: 1}, "n3": {Wave: 1, BegunAt: new(day())}}}
	})
	if !Canary(out, "n1") || Canary(out, "n2") || !Canary(out, "n3") || Canary(out, "n4") {
		t.Error("by the roll-out")
	}
	out.Status.Revision = 3
	if Canary(out, "n1") {
		t.Error("by the roll-out of another revision")
	}
}

// A return without a number takes no image that the group rejects, and says what it passed over.
func TestOlder(t *testing.T) {
	verified := func(n int, version, digest string) *resource.GroupRevision {
		r := revision(n, entry(version), digest)
		r.Status.Verified = true
		return r
	}
	unproved := revision(4, entry("4.0"), "d")
	history := []*resource.GroupRevision{verified(1, "1.0", "a"), verified(2, "2.0", "b"), verified(3, "3.0", "c"), unproved, verified(5, "5.0", "e"), verified(6, "5.0", "e")}
	for name, row := range map[string]struct {
		number   int
		rejected []string
		want     int
		skipped  string
	}{
		"the last verified with another image": {want: 3, skipped: "[]"},
		"one is rejected":                      {rejected: []string{"os-3-0"}, want: 2, skipped: "[3]"},
		"two are":                              {rejected: []string{"os-3-0", "os-2-0"}, want: 1, skipped: "[2 3]"},
		"an older one is":                      {rejected: []string{"os-1-0"}, want: 3, skipped: "[]"},
		"all are":                              {rejected: []string{"os-1-0", "os-2-0", "os-3-0"}, skipped: "[1 2 3]"},
		"a rejected one that is named":         {number: 3, rejected: []string{"os-3-0"}, want: 3, skipped: "[]"},
		"one without proof that is named":      {number: 4, want: 4, skipped: "[]"},
		"the current one that is named":        {number: 6, want: 6, skipped: "[]"},
		"one that is not there":                {number: 9, skipped: "[]"},
	} {
		g := group(func(g *resource.ServerGroup) {
			g.Status.Revision, g.Status.Rejected = 6, map[string]resource.GroupReject{}
			for _, e := range row.rejected {
				g.Status.Rejected[e] = resource.GroupReject{}
			}
		})
		got, skipped := Older(history, g, row.number)
		number := 0
		if got != nil {
			number = got.Spec.Number
		}
		if number != row.want || fmt.Sprint(skipped) != row.skipped {
			t.Errorf("%s: revision %d, skipped %v", name, number, skipped)
		}
	}
}
