package link

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rackboot/protocol/resource"
)

// Resends at 2 s, 4, 8 … 60 s ± 50 %.
func TestResendPauses(t *testing.T) {
	s, now := newSends(), time.Unix(0, 0)
	want := sendPauseMin
	for range 10 {
		if !s.due("a", now) {
			t.Fatal("not due")
		}
		pause := s.next["a"].Sub(now)
		if pause < want/2 || pause > want*3/2 {
			t.Errorf("the pause is %s, want %s ± 50 %%", pause, want)
		}
		if s.due("a", now.Add(pause-1)) {
			t.Error("due before its time")
		}
		now, want = now.Add(pause), min(want*2, sendPauseMax)
	}
	s.again("a")
	if !s.due("a", now) {
		t.Error("not due after news")
	}
}

// TestWithGaps: numbers that are missing are said to be lost, by whom ever they were.
func TestWithGaps(t *testing.T) {
	ev := func(seq uint64) resource.Event { return resource.Event{Seq: seq, Code: resource.EventPowerOn} }
	record := func(from, to uint64) resource.Event {
		return resource.Event{From: from, Seq: to, Code: resource.EventLost}
	}
	run := func(list ...resource.Event) []resource.Event { return list }
	odd := ev(9)
	odd.From = 3
	for _, c := range []struct {
		name       string
		batch      []resource.Event
		last, tail uint64
		want       string
	}{
		{"next", run(ev(6), ev(7)), 5, 0, "6 7"},
		{"a hole", run(ev(6), ev(9)), 5, 0, "6 lost7-8 9"},
		{"a hole at the beginning", run(ev(9)), 5, 0, "lost6-8 9"},
		{"the agent's own record", run(record(6, 8), ev(9)), 5, 0, "lost6-8 9"},
		{"a record that begins before", run(record(3, 8), ev(9)), 5, 0, "lost3-8 9"},
		{"a record that begins after", run(record(8, 8), ev(9)), 5, 0, "lost6-7 lost8-8 9"},
		{"filed before", run(ev(4), ev(5), ev(6)), 5, 0, "6"},
		{"a new incarnation goes on counting", run(ev(70)), 0, 70, "70"},
		{"a new incarnation with a hole", run(ev(72)), 0, 70, "lost70-71 72"},
		{"a new incarnation whose first is not known", run(ev(72)), 0, 0, "72"},
		{"an event that is no record", run(odd), 5, 0, "lost6-8 9"},
	} {
		var got []string
		for _, e := range withGaps(c.batch, c.last, c.tail) {
			text := fmt.Sprint(e.Seq)
			if e.Code == resource.EventLost {
				text = fmt.Sprintf("lost%d-%d", e.From, e.Seq)
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

func TestSpread(t *testing.T) {
	for agents, want := range map[int]time.Duration{0: 0, 1000: 5 * time.Second, 12_000: time.Minute, 50_000: time.Minute} {
		if got := spread(agents); got != want {
			t.Errorf("%d agents: spread over %s, want %s", agents, got, want)
		}
	}
}
