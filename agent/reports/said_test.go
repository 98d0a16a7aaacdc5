package reports

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"rackboot/internal/doctable"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func TestTellsTable(t *testing.T) {
	doctable.Of(t, "said.go", "tells").Hold(t, [][]string{doctable.YesNo(), {"none", "up to half", "more of them"}}, func(in []string) []string {
		s := said{revisions: map[string]uint64{}, hub: 1, grown: 1, whole: start}
		changed := map[string]int{"none": 0, "up to half": 2, "more of them": 3}[in[1]]
		names := []string{"n1", "n2", "n3", "n4"}
		for i, name := range names {
			s.revisions[name] = 1
			if i < changed {
				s.changes(name)
			}
		}
		got, of := s.tells(names, 2, true, in[0] == "yes", start)
		if want := map[tells]int{tellsAll: 4, tellsChanges: changed}[got]; len(of) != want {
			t.Errorf("%v: %s of %v", in, got, of)
		}
		return []string{string(got)}
	})
}

// What makes a report tell all of a shard.
func TestTellsAll(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(s *said)
		want   tells
	}{
		{"one has changed", func(*said) {}, tellsChanges},
		{"the hub has none", func(s *said) { s.had(0) }, tellsAll},
		{"the hub has less than before", func(s *said) { s.had(6) }, tellsChanges},
		{"the hub lacks the last that came", func(s *said) { s.grown = 8 }, tellsAll},
		{"another comes", func(s *said) { s.changes("n5") }, tellsAll},
		{"the last whole one was long ago", func(s *said) { s.whole = start.Add(-wholeEvery) }, tellsAll},
	} {
		s := said{revisions: map[string]uint64{"n1": 3, "n2": 3, "n3": 7, "n4": 0}, hub: 7, grown: 3, whole: start}
		row.change(&s)
		names := []string{"n1", "n2", "n3", "n4"}
		if s.came {
			names = append(names, "n5")
		}
		got, _ := s.tells(names, 9, true, false, start)
		if got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
		if s.revisions["n4"] != 9 || s.revisions["n1"] != 3 {
			t.Errorf("%s: revisions %v", row.name, s.revisions)
		}
	}
}

// A report of changes has all that changed since the one that the hub has, however many were lost between.
func TestChangesAddUp(t *testing.T) {
	r, w := reporting(t)
	for i := range 10 {
		r.Put(numbered(i), resource.PhaseInitial)
	}
	due := func() (of []string, as uint64) {
		w.now = w.now.Add(2 * time.Second)
		reports, _ := r.due(nothing{})
		if len(reports) != 1 {
			t.Fatalf("%d reports", len(reports))
		}
		m := reports[0]
		for _, s := range m.Servers {
			of = append(of, s.Server)
		}
		if m.As > 0 && (len(m.Reads) != 10 || len(m.Revisions) != len(m.Servers) || len(m.Digest) == 0) {
			t.Errorf("%+v", m)
		}
		return of, m.As
	}
	if of, as := due(); len(of) != 10 || as != 0 {
		t.Fatalf("%v as %d", of, as)
	}
	r.Had([]uint64{1})
	change := func(i int) {
		s := numbered(i)
		s.PowerEpoch = uint64(w.now.Unix())
		r.Put(s, resource.PhaseInitial)
	}
	for i, want := range [][]string{{"n000"}, {"n000", "n001"}, {"n000", "n001", "n002"}} {
		change(i)
		if of, as := due(); !slices.Equal(of, want) || as != 1 {
			t.Errorf("step %d: %v as %d", i, of, as)
		}
	}
	r.Had([]uint64{3}) // the last one was lost
	change(0)
	if of, as := due(); fmt.Sprint(of) != "[n000 n002]" || as != 3 {
		t.Errorf("%v as %d", of, as)
	}
}

// TestUpgradeIsTold: what becomes of an order to run another release is in each report of the first shard, and in no other.
func TestUpgradeIsTold(t *testing.T) {
	r, w := reporting(t)
	for i := range 60 {
		r.Put(numbered(i), resource.PhaseInitial)
	}
	told := func() (out []string) {
		w.now = w.now.Add(time.Minute)
		reports, _ := r.due(nothing{})
		for _, m := range reports {
			if m.Upgrade != nil {
				out = append(out, fmt.Sprintf("%d %s", m.Shard, m.Upgrade.Stage))
			}
		}
		return out
	}
	if got := told(); len(got) > 0 {
		t.Errorf("before the first: %v", got)
	}
	for _, stage := range []message.UpgradeStage{message.UpgradeFetching, message.UpgradeWaiting} {
		r.PutUpgrade(message.UpgradeReport{Order: "01a", Stage: stage})
		for range 2 {
			if got := told(); len(got) != 1 || got[0] != "0 "+string(stage) {
				t.Errorf("%s: %v", stage, got)
			}
		}
	}
}
