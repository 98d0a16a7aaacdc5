package inrush

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

var start = time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)

// TestLine: each row is what happens at a second, as "second what server", and who is given a place by it. An agent
// starts at 0 with three servers within 10 s, and two of one feed; feeds are the first letters of the servers.
func TestLine(t *testing.T) {
	in := Limit{Servers: 3, FeedServers: 2, Window: 10 * time.Second}
	for name, rows := range map[string][]string{
		"after a start nobody goes on for a window":      {"0 begin a1:", "9 begin b1:", "10 begin b1:a1 b1"},
		"three of the rack":                              {"0 none a1:", "20 begin a1:a1", "20 begin b1:b1", "20 begin c1:c1", "20 begin d1:", "21 order a1", "21 order b1", "21 order c1", "22 none a1:", "30 begin d1:", "31 begin d1:d1"},
		"a full feed holds up its own only":              {"0 none a1:", "20 begin a1:a1", "20 begin a2:a2", "20 begin a3:", "20 begin b1:b1", "20 order a1", "20 order a2", "21 none a1:", "21 none a2:", "30 begin a3:a3"},
		"first come, first served":                       {"0 none a1:", "20 begin a1:a1", "20 begin b1:b1", "20 begin c1:c1", "20 begin d2:", "21 begin d1:", "22 none a1:d2", "23 none b1:d1"},
		"an armed server is first":                       {"0 none a1:", "20 begin a1:a1", "20 begin b1:b1", "20 begin c1:c1", "20 begin d1:", "21 send e1:", "22 none a1:e1", "23 none b1:d1"},
		"who wants it no more gives it up":               {"0 none a1:", "20 begin a1:a1", "20 begin b1:b1", "20 begin c1:c1", "20 begin d1:", "20 begin e1:", "21 none d1:", "22 none a1:e1"},
		"an On that is out keeps its place":              {"0 none a1:", "20 begin a1:a1", "20 begin a2:a2", "20 order a1", "20 order a2", "29 keep a1:", "60 keep a1:", "60 begin a3:", "61 order a1", "62 none a1:", "70 begin a3:", "71 begin a3:a3"},
		"a place that is not used is lost":               {"0 none a1:", "20 begin a1:a1", "20 begin a2:a2", "20 begin a3:", "20 order a2", "70 keep a1:", "79 begin a3:", "80 keep a1:a3", "81 refused a1", "81 send a1:"},
		"one that was switched on asks in its own place": {"0 none a1:", "20 begin a1:a1", "20 begin a2:a2", "20 order a1", "20 order a2", "21 none a1:", "21 none a2:", "22 begin a1:", "22 has a1", "23 order a1"},
		"one that failed goes to the end":                {"0 none a1:", "20 begin a1:a1", "20 begin a2:a2", "20 begin a3:", "21 none a1:a3", "21 begin a1:", "22 begin a4:", "23 none a2:a1"},
		"without a place nothing is sent":                {"0 none a1:", "20 refused a1", "20 begin a1:a1", "20 order a1"},
		"a closed line":                                  {"0 none a1:", "20 close -", "30 begin a1:", "40 open -", "49 begin a1:", "50 begin a1:a1"},
	} {
		t.Run(name, func(t *testing.T) {
			var l Line
			l.Open(start)
			for _, row := range rows {
				event, given, _ := strings.Cut(row, ":")
				var second int
				var what, server string
				if _, err := fmt.Sscan(event, &second, &what, &server); err != nil {
					t.Fatal(err)
				}
				now := start.Add(time.Duration(second) * time.Second)
				switch what {
				case "close":
					l.Close()
				case "open":
					l.Open(now)
				case "has":
					if p := l.Place(now, in, server); !p.Limited || !p.Has {
						t.Errorf("%s: %+v", row, p)
					}
				case "order", "refused":
					if got := l.Order(now, in, server, server[:1]); got != (what == "order") {
						t.Errorf("%s: %v", row, got)
					}
				default:
					var got []string
					for _, g := range l.Ask(now, in, server, server[:1], decide.PlaceNeed(what)) {
						got = append(got, g.Server)
					}
					if strings.Join(got, " ") != given {
						t.Errorf("%s: %v", row, got)
					}
				}
			}
		})
	}
}

// TestUntil: who waits is told about when its turn is.
func TestUntil(t *testing.T) {
	in := Limit{Servers: 2, FeedServers: 1, Window: 10 * time.Second}
	var l Line
	l.Open(start)
	for _, s := range []string{"a1", "a2", "b1", "c1", "c2"} {
		l.Ask(start, in, s, s[:1], decide.PlaceBegin)
	}
	for s, want := range map[string]time.Duration{"a1": 10 * time.Second, "a2": 20 * time.Second, "b1": 10 * time.Second, "c1": 20 * time.Second, "c2": 30 * time.Second} {
		if p := l.Place(start, in, s); p.Has || p.Until.Sub(start) != want {
			t.Errorf("%s: %+v, want %v", s, p, want)
		}
	}
}

// TestLimitChanges: a limit that becomes narrower counts what was ordered under the one before, and one that is taken away
// has nobody wait.
func TestLimitChanges(t *testing.T) {
	var l Line
	l.Open(start)
	if !l.Order(start, Limit{}, "a1", "a") {
		t.Error("without a limit it has to wait")
	}
	l.Ask(start.Add(time.Second), Limit{}, "a1", "a", decide.PlaceNone)
	in := Limit{Servers: 1, Window: 2 * time.Minute}
	if got := l.Ask(start.Add(119*time.Second), in, "a2", "a", decide.PlaceBegin); len(got) != 0 {
		t.Errorf("%v within the window of what was ordered before the limit was set", got)
	}
	if got := l.Ask(start.Add(119*time.Second), Limit{}, "a3", "a", decide.PlaceNone); len(got) != 1 || got[0].Server != "a2" {
		t.Errorf("%v once the limit is taken away", got)
	}
	if p := l.Place(start, Limit{}, "a2"); p != (decide.Place{}) {
		t.Errorf("%+v", p)
	}
}

func TestLimitOf(t *testing.T) {
	for in, want := range map[*message.InrushIntent]Limit{
		nil: {},
		{Servers: 3, FeedServers: 1, Window: time.Second}: {3, 1, time.Second},
		{Servers: 3, Window: time.Hour}:                   {3, 0, resource.MaxInrushWindow},
	} {
		if got := LimitOf(in); got != want || got.Bounds() != (in != nil) {
			t.Errorf("%+v: %+v", in, got)
		}
	}
}

// world is servers that want to be switched on, whose BMCs do what they like.
type world struct {
	t    *rapid.T
	line Line
	in   Limit
	now  time.Time
	// armed and sent are how far each server that wants it has come; on are those that run.
	armed, sent, on map[string]bool
	ordered         map[string][]time.Time
}

func (w *world) feed(s string) string { return s[:1] }

func (w *world) need(s string) decide.PlaceNeed {
	switch {
	case w.on[s]:
		return decide.PlaceNone
	case w.armed[s] && !w.sent[s]:
		return decide.PlaceSend
	case w.sent[s]:
		return decide.PlaceKeep
	}
	return decide.PlaceBegin
}

// round is what the loop of a server does: it asks, and goes on if it has a place.
func (w *world) round(s string, need decide.PlaceNeed) {
	w.line.Ask(w.now, w.in, s, w.feed(s), need)
}

func (w *world) order(s string) {
	if w.line.Order(w.now, w.in, s, w.feed(s)) {
		w.sent[s] = true
		w.ordered[s] = append(w.ordered[s], w.now)
	}
}

// holds checks that no window had more servers than it may.
func (w *world) holds() {
	type at struct {
		when   time.Time
		server string
	}
	var all []at
	for s, times := range w.ordered {
		for _, when := range times {
			all = append(all, at{when, s})
		}
	}
	for _, first := range all {
		rack, feeds := map[string]bool{}, map[string]map[string]bool{}
		for _, o := range all {
			if d := o.when.Sub(first.when); d < 0 || d >= w.in.Window {
				continue
			}
			rack[o.server] = true
			if feeds[w.feed(o.server)] == nil {
				feeds[w.feed(o.server)] = map[string]bool{}
			}
			feeds[w.feed(o.server)][o.server] = true
		}
		if w.in.Servers > 0 && len(rack) > w.in.Servers {
			w.t.Fatalf("within %v from %v: %v", w.in.Window, first.when.Sub(start), slices.Sorted(maps.Keys(rack)))
		}
		for f, of := range feeds {
			if w.in.FeedServers > 0 && len(of) > w.in.FeedServers {
				w.t.Fatalf("feed %s, within %v from %v: %v", f, w.in.Window, first.when.Sub(start), slices.Sorted(maps.Keys(of)))
			}
		}
	}
}

// TestSpread: whatever servers and BMCs do, no window has more orders than it may; and once they behave, every server
// comes on in the time that the limit leaves.
func TestSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{t: t, now: start, armed: map[string]bool{}, sent: map[string]bool{}, on: map[string]bool{}, ordered: map[string][]time.Time{}}
		w.in = Limit{Servers: rapid.IntRange(0, 4).Draw(t, "servers"), FeedServers: rapid.IntRange(0, 2).Draw(t, "of a feed"), Window: time.Duration(rapid.IntRange(1, 40).Draw(t, "window")) * time.Second}
		if !w.in.Bounds() {
			w.in.Servers = 1
		}
		var servers []string
		for i := range rapid.IntRange(1, 9).Draw(t, "how many") {
			servers = append(servers, fmt.Sprintf("%c%d", 'a'+i%3, i))
		}
		w.line.Open(w.now)
		for range rapid.IntRange(0, 150).Draw(t, "steps") {
			s := rapid.SampledFrom(servers).Draw(t, "server")
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0:
				w.now = w.now.Add(time.Duration(rapid.IntRange(1, 90_000).Draw(t, "ms")) * time.Millisecond)
			case 1:
				w.round(s, w.need(s))
			case 2:
				w.armed[s] = w.line.Place(w.now, w.in, s).Has || w.armed[s]
			case 3:
				w.order(s) // also one that has no place
			case 4:
				w.on[s] = w.sent[s] && len(w.ordered[s]) > 0
				w.round(s, w.need(s))
			case 5: // held, withdrawn, or Off again
				w.armed[s], w.sent[s], w.on[s] = false, false, false
				w.round(s, decide.PlaceNone)
			case 6:
				w.round(s, decide.PlaceKeep)
			}
			w.holds()
		}
		// Each is asked for every second now, sends at once and comes on.
		end := w.now.Add(Keep + time.Duration(len(servers)+2)*(w.in.Window+2*time.Second))
		for w.now.Before(end) && len(w.on) < 100 {
			for _, s := range servers {
				if w.on[s] {
					w.round(s, decide.PlaceNone)
					continue
				}
				if w.line.Place(w.now, w.in, s).Has {
					w.order(s)
					w.on[s] = true
				}
				w.round(s, w.need(s))
			}
			w.now = w.now.Add(time.Second)
		}
		w.holds()
		for _, s := range servers {
			if !w.on[s] {
				t.Fatalf("%s was not switched on by %v: %+v", s, end.Sub(start), w.line.Place(w.now, w.in, s))
			}
		}
		if n := w.line.Waiting(); n != 0 {
			t.Fatalf("%d wait", n)
		}
	})
}
