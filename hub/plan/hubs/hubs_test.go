package hubs

import (
	"fmt"
	"testing"
	"time"

	"rackboot/internal/doctable"
)

func TestTables(t *testing.T) {
	doctable.Of(t, "life.go", "Judge").HoldOne(t, [][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		s := Sighting{Beat: 7, Moved: in[2] == "yes", First: time.Second, Last: 2 * time.Second, Own: 3}
		now, own := s.Last+DeadAfter-1, s.Own+DeadBeats-1
		if in[0] == "yes" {
			now++
		}
		if in[1] == "yes" {
			own++
		}
		return string(Judge(s, now, own))
	})
	doctable.Of(t, "unit.go", "Decide").HoldOne(t, [][]string{doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		owner := map[string]string{"yes": "run-a", "no": "run-x"}[in[0]]
		v := View{Self: Member{Name: "a", Run: "run-a", Settled: in[2] == "yes"}, Beats: in[1] == "yes", Unknown: map[string]bool{owner: in[3] == "no"}}
		return string(Decide("rack/r1", owner, v))
	})
}

// What a hub sees of another one over time.
func TestAHubThatFallsSilent(t *testing.T) {
	var s Sighting
	at := func(sec int) time.Duration { return time.Duration(sec) * time.Second }
	s = s.See(41, at(0), 0) // from before this hub began: it may be dead for long
	if got := Judge(s, at(4), 4); got != Unseen {
		t.Fatalf("before anything moved it is %s", got)
	}
	if got := Judge(s, at(5), 5); got != Dead {
		t.Fatalf("a beat that never moves is of a hub that is %s", got)
	}
	if got := Judge(s, at(60), 4); got != Unseen {
		t.Fatalf("where nobody's beats are stored, it is %s", got)
	}
	s = s.See(42, at(2), 2)
	if Judge(s, at(3), 3) != Alive || Settled(s, at(4)) || !Settled(s, at(5)) {
		t.Fatal("a beat that moves is of a living hub, which is settled after a while")
	}
	again := s.See(42, at(9), 9)
	if again != s {
		t.Fatal("the same beat is no news")
	}
}

func TestUnitsMoveOnlyToWhoComes(t *testing.T) {
	members := func(names ...string) (out []Member) {
		for _, n := range names {
			out = append(out, Member{Name: n, Run: n, Settled: true})
		}
		return out
	}
	const units = 3000
	counts := map[string]int{}
	for i := range units {
		unit := fmt.Sprintf("rack/r%d", i)
		two, three := First(unit, members("a", "b")), First(unit, members("c", "b", "a"))
		counts[three]++
		if three != "c" && three != two {
			t.Fatalf("%s went from %s to %s when c came", unit, two, three)
		}
	}
	for _, n := range []string{"a", "b", "c"} {
		if counts[n] < units/4 || counts[n] > units/2 {
			t.Errorf("%s has %d of %d", n, counts[n], units)
		}
	}
	drains := members("a", "b")
	drains[0].Draining = true
	if First("rack/r1", drains) != "b" || First("rack/r1", drains[:1]) != "" {
		t.Error("who drains is given nothing")
	}
}
