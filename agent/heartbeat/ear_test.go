package heartbeat

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/internal/doctable"
	"rackboot/protocol/message"
)

func TestBeatTable(t *testing.T) {
	doctable.Of(t, "ear.go", "beatRule").HoldOne(t, [][]string{doctable.Words(beatSame, beatEarlier, beatOther), doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		return string(beatRule(beatIs(in[0]), in[1] == "yes", in[2] == "yes"))
	})
}

// host is one of two that say and hear beats.
type host struct {
	run string
	seq uint64
	ear ear
}

func (h *host) says() message.Beat {
	h.seq++
	return message.Beat{Run: h.run, Seq: h.seq, Echo: h.ear.run, EchoSeq: h.ear.seq}
}

// TestNothingOldCounts lets a network lose, repeat and play back whatever was ever said, while hosts live, restart and
// die: nobody is heard later than a moment after he last spoke, and two that live and hear each other are heard.
func TestNothingOldCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
		hosts := [2]*host{{run: "a1"}, {run: "b1"}}
		alive := [2]bool{true, true}
		var spoke [2]time.Time
		var said [2][]message.Beat
		runs := 1
		cut := false
		hear := func(to int, b message.Beat) {
			if !alive[to] {
				return
			}
			h := hosts[to]
			if h.ear.take(b, h.run, h.seq, now) == beatCount && now.Sub(spoke[1-to]) > message.BeatSilent+message.BeatEvery {
				t.Fatalf("host %d counts %+v, and the other one last spoke %s ago", to, b, now.Sub(spoke[1-to]))
			}
		}
		tick := func() {
			now = now.Add(message.BeatEvery)
			for i, h := range hosts {
				if !alive[i] {
					continue
				}
				b := h.says()
				spoke[i] = now
				if said[i] = append(said[i], b); !cut {
					hear(1-i, b)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"second": func(*rapid.T) { tick() },
			"minute": func(*rapid.T) {
				for range 60 {
					tick()
				}
			},
			"cut": func(*rapid.T) { cut = !cut },
			"replay": func(t *rapid.T) {
				i := rapid.IntRange(0, 1).Draw(t, "to")
				if n := len(said[1-i]); n > 0 {
					hear(i, said[1-i][rapid.IntRange(0, n-1).Draw(t, "which")])
				}
			},
			"dies": func(t *rapid.T) { alive[rapid.IntRange(0, 1).Draw(t, "who")] = false },
			"restarts": func(t *rapid.T) {
				i := rapid.IntRange(0, 1).Draw(t, "who")
				runs++
				hosts[i], alive[i] = &host{run: string(rune('a'+i)) + string(rune('0'+runs%200))}, true
			},
		})
		cut, alive = false, [2]bool{true, true}
		for range 20 {
			tick()
		}
		for i, h := range hosts {
			if !h.ear.heard(now) {
				t.Fatalf("host %d does not hear the other one", i)
			}
		}
	})
}

// TestHeardFor: beats without a gap count together; after a gap they count anew.
func TestHeardFor(t *testing.T) {
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	a, b := &host{run: "a"}, &host{run: "b"}
	talk := func(seconds int) {
		for range seconds {
			now = now.Add(time.Second)
			x, y := a.says(), b.says()
			a.ear.take(y, a.run, a.seq, now)
			b.ear.take(x, b.run, b.seq, now)
		}
	}
	if _, ok := a.ear.report("boot", now); ok {
		t.Error("somebody is heard that never spoke")
	}
	talk(70)
	h, ok := a.ear.report("boot", now)
	if !ok || h.For < message.BeatLong || h.Ago != 0 {
		t.Errorf("%+v", h)
	}
	now = now.Add(12 * time.Second)
	if h, _ := a.ear.report("boot", now); h.For < message.BeatLong || h.Ago != 12*time.Second {
		t.Errorf("silent: %+v", h)
	}
	talk(5)
	if h, _ := a.ear.report("boot", now); h.For > 5*time.Second || h.Ago != 0 {
		t.Errorf("heard anew: %+v", h)
	}
}
