package group

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rackboot/cmd/internal/cli/rollout"
	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// updateGolden rewrites testdata/rollout-*.txt.
var updateGolden = flag.Bool("update", false, "update the golden texts")

func rolloutNow() time.Time { return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC) }

// rolledOut is a group with a roll-out of one canary and waves of 4 and 7 servers; edit
// may change it.
func rolledOut(phase resource.RolloutPhase, wave int, states string, edit func(*resource.ServerGroup, map[string]resource.RolloutMember)) *resource.ServerGroup {
	word := map[rune]resource.MemberState{'s': resource.MemberSkipped}
	for _, s := range rollout.Signs() {
		word[s.Sign] = s.State
	}
	g := &resource.ServerGroup{}
	g.Metadata.Name = "workers"
	g.Default()
	g.Spec.Rollout.Strategy = resource.RolloutReboot
	st := &resource.RolloutStatus{
		Revision: 7, From: 6, Strategy: resource.RolloutReboot, Phase: phase, Wave: wave, Waves: 3,
		StartedAt: rolloutNow().Add(-3 * time.Hour), WaveAt: rolloutNow().Add(-time.Hour), Members: map[string]resource.RolloutMember{},
	}
	for i, sign := range []rune(states) {
		m := resource.RolloutMember{State: word[sign], Since: rolloutNow().Add(-time.Duration(i+1) * time.Minute)}
		switch {
		case i >= 5:
			m.Wave = 2
		case i >= 1:
			m.Wave = 1
		}
		st.Members[fmt.Sprintf("n%02d", i)] = m
	}
	g.Status.Revision, g.Status.Rollout = 7, st
	if edit != nil {
		edit(g, st.Members)
	}
	return g
}

func because(members map[string]resource.RolloutMember, name, reason string) {
	m := members[name]
	m.Reason = reason
	members[name] = m
}

func TestRolloutTextGolden(t *testing.T) {
	ended := rolloutNow().Add(-time.Minute)
	for _, row := range []struct {
		name string
		all  bool
		g    *resource.ServerGroup
	}{
		{"canary", false, rolledOut(resource.RolloutCanary, 0, ">...........", nil)},
		{"wave", false, rolledOut(resource.RolloutWave, 1, "###=>.......", func(_ *resource.ServerGroup, m map[string]resource.RolloutMember) {
			because(m, "n04", "it is dark, and its time begins anew when it is back")
		})},
		{"wave-all", true, rolledOut(resource.RolloutWave, 1, "###=>.......", func(_ *resource.ServerGroup, m map[string]resource.RolloutMember) {
			begun, due := rolloutNow().Add(-10*time.Minute), rolloutNow().Add(35*time.Minute)
			n := m["n04"]
			n.BegunAt, n.DueAt = &begun, &due
			m["n04"] = n
		})},
		{"window", false, rolledOut(resource.RolloutWaiting, 1, "#...........", func(g *resource.ServerGroup, _ map[string]resource.RolloutMember) {
			g.Status.Rollout.Reason = "no window is open before Sat 2026-11-21 22:00 CET"
			g.Spec.Rollout.TimeZone = "Europe/Berlin"
			g.Spec.Rollout.Windows = []resource.RolloutWindow{{Days: []string{"Mon", "Sat"}, Start: "22:00", Duration: protocol.Duration(6 * time.Hour)}, {Start: "03:00", Duration: protocol.Duration(time.Hour)}}
		})},
		{"approval", false, rolledOut(resource.RolloutWaiting, 0, "............", func(g *resource.ServerGroup, _ map[string]resource.RolloutMember) {
			g.Status.Rollout.Strategy, g.Status.Rollout.Reason = resource.RolloutReprovision, "waits for approval of n00"
		})},
		{"frozen", false, rolledOut(resource.RolloutWaiting, 1, "#...........", func(g *resource.ServerGroup, _ map[string]resource.RolloutMember) {
			g.Spec.Rollout.Freeze, g.Status.Rollout.Reason = true, "spec.rollout.freeze is set"
		})},
		{"paused", false, rolledOut(resource.RolloutPaused, 1, "##xx#.......", func(g *resource.ServerGroup, m map[string]resource.RolloutMember) {
			g.Status.Rollout.Reason = "2 servers failed, and at most 1 may: n02, n03: it boots again and again"
			because(m, "n02", "it boots again and again")
			because(m, "n03", "NoDHCP\x1b[31m")
		})},
		{"paused-by", false, rolledOut(resource.RolloutPaused, 1, "##..........", func(g *resource.ServerGroup, _ map[string]resource.RolloutMember) {
			g.Status.Rollout.Reason, g.Status.Rollout.By = "the network is worked on", "ann"
		})},
		{"completed", false, rolledOut(resource.RolloutCompleted, 2, "############", func(g *resource.ServerGroup, _ map[string]resource.RolloutMember) { g.Status.Rollout.EndedAt = &ended })},
		{"rolledback", false, rolledOut(resource.RolloutRolledBack, 1, "--<x........", func(g *resource.ServerGroup, m map[string]resource.RolloutMember) {
			g.Status.Rollout.Reason, g.Status.Rollout.EndedAt = "1 servers failed, and at most 0 may: n03", &ended
			because(m, "n03", "it was not seen to boot the revision before by 2026-11-21T08:00:00Z; it needs a look")
		})},
		{"aborted", false, rolledOut(resource.RolloutAborted, 1, "##.s........", func(g *resource.ServerGroup, _ map[string]resource.RolloutMember) {
			g.Status.Rollout.Reason, g.Status.Rollout.By, g.Status.Rollout.EndedAt = "wrong image", "ann", &ended
		})},
		{"empty", false, rolledOut(resource.RolloutCompleted, 2, "", nil)},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := rolloutText(rolloutReportOf(row.g), rolloutNow(), row.all, 80) + "\n"
			file := filepath.Join("testdata", "rollout-"+row.name+".txt")
			if *updateGolden {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if strings.ContainsAny(got, "\x1b") {
				t.Error("a control character of a reason is shown")
			}
		})
	}
}

// Of many that wait only so many are named, those that failed first.
func TestRolloutNamesThoseThatMatter(t *testing.T) {
	g := rolledOut(resource.RolloutWave, 2, "#####"+strings.Repeat(".", 40)+"x", nil)
	text := rolloutText(rolloutReportOf(g), rolloutNow(), false, 80)
	if !strings.Contains(text, "\nand 21 more; -o wide names every server") {
		t.Errorf("got\n%s", text)
	}
	if at := strings.Index(text, "n45 "); at < 0 || at > strings.Index(text, "n05 ") {
		t.Errorf("n45, which failed, is not the first in\n%s", text)
	}
	if all := rolloutText(rolloutReportOf(g), rolloutNow(), true, 80); strings.Count(all, "\nn") != 46 {
		t.Errorf("not every server is named in\n%s", all)
	}
}

// The bar fits the screen, down to one that is too narrow for anything.
func TestRolloutProgressFits(t *testing.T) {
	r := rolloutReportOf(rolledOut(resource.RolloutWave, 1, "############", nil))
	for columns, want := range map[int]int{200: 60, 80: 60, 68: 60, 67: 59, 40: 32, 18: 10, 5: 10, 0: 10} {
		bar, _, _ := strings.Cut(rolloutProgress(r, columns), "\n")
		if n := strings.Count(bar, "#"); n != want || columns >= 18 && len(bar) > columns {
			t.Errorf("%d columns: %d of %d in %q", columns, n, want, bar)
		}
	}
}

func TestRolloutTables(t *testing.T) {
	phases := append(doctable.Words(resource.RolloutPhases()...), "OfANewerHub")
	flags := []string{"yes", "no"}
	doctable.Of(t, "rolloutreport.go", "rolloutTodo").HoldOne(t, [][]string{phases, flags, flags}, func(in []string) string {
		return string(rolloutTodo(resource.RolloutPhase(in[0]), in[1] == "yes", in[2] == "yes"))
	})
	doctable.Of(t, "rolloutwatch.go", "rolloutExit").HoldOne(t, [][]string{phases, flags}, func(in []string) string {
		return strconv.Itoa(rolloutExit(resource.RolloutPhase(in[0]), in[1] == "yes"))
	})
}

// Everything that is to be done is said in words, and the help names each exit code.
func TestRolloutWords(t *testing.T) {
	g := rolledOut(resource.RolloutPaused, 1, "#x", nil)
	for _, what := range []todo{todoWait, todoUnfreeze, todoResume, todoLook, todoRetry, todoUnpin, todoRevert, todoCorrect, todoUpgrade} {
		if len(todoText(what, g)) == 0 {
			t.Errorf("nothing is said for %s", what)
		}
	}
	help := rolloutStatusCmd(nil, nil, nil).Long
	codes := map[int]bool{}
	for _, p := range resource.RolloutPhases() {
		codes[rolloutExit(p, false)] = true
	}
	delete(codes, goesOn)
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		if !strings.Contains(help, fmt.Sprintf("\n  %2d  ", code)) {
			t.Errorf("the help has no exit code %d", code)
		}
	}
}

func TestStrategyText(t *testing.T) {
	for _, s := range resource.RolloutStrategies() {
		text := strategyText(s)
		if text == strategyText("") {
			t.Errorf("%s is not known", s)
		}
		if overwrites := strings.Contains(text, "DISKS ARE OVERWRITTEN"); overwrites != (s == resource.RolloutReprovision) {
			t.Errorf("%s: %s", s, text)
		}
	}
}

// A next that is taken says what still keeps its servers from being begun.
func TestStillWaits(t *testing.T) {
	g := &resource.ServerGroup{}
	for _, row := range []struct {
		command api.RolloutCommand
		rollout *resource.RolloutStatus
		want    string
	}{
		{api.RolloutNext, nil, ""},
		{api.RolloutNext, &resource.RolloutStatus{}, ""},
		{api.RolloutNext, &resource.RolloutStatus{Reason: "no window is open before Mon 2026-03-02 22:00 UTC"}, ", once this has ended: no window is open before Mon 2026-03-02 22:00 UTC"},
		{api.RolloutPause, &resource.RolloutStatus{Reason: "the network is worked on"}, ""},
	} {
		g.Status.Rollout = row.rollout
		if got := stillWaits(row.command, g); got != row.want {
			t.Errorf("%s %+v: %q", row.command, row.rollout, got)
		}
	}
}
