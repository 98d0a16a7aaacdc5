package watch

import (
	"bytes"
	"testing"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

// A watch that begins notes a resource before its change is looked at. Who passed it over, because it was not for him then,
// hears of that change all the same.
func TestPassedOver(t *testing.T) {
	now := &shown{made: &made{name: "n1", raw: []byte(`{}`)}, raw: []byte(`{}`), sum: "row 7"}
	for name, row := range map[string]struct {
		others []bool // whether they pass over resources
		told   bool
	}{
		"nobody else":             {nil, false},
		"one who sees everything": {[]bool{false}, false},
		"one who sees some":       {[]bool{true}, true},
		"both":                    {[]bool{false, true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoard(resource.KindServer, whole(), 1)
			begins := &Watch{passes: true}
			b.watches[begins] = true
			for _, passes := range row.others {
				b.watches[&Watch{passes: passes}] = true
			}
			if !b.note(begins, now, 2) {
				t.Error("nothing was noted")
			}
			if told := b.take(now, 3, false); told != row.told {
				t.Errorf("its change is told: %t", told)
			}
			if told := b.take(now, 4, false); told {
				t.Error("it is told twice")
			}
		})
	}
}

// A resource that left a caller's scope when he was to be told of it, and is back before anybody has looked, is told.
func TestThereAndBack(t *testing.T) {
	s := newSite(t, nil)
	s.put(t, storetest.Rack("r1"), storetest.Segment("boot", "r1"), storetest.BMC("b1", "r1"), server("n1", "7"))
	s.stop() // nobody looks but this test
	only, err := selector.ParseOnly("status.phase", resource.KindServer)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.room.Begin(Ask{Kind: resource.KindServer, Who: row7(), Only: only})
	if err != nil {
		t.Fatal(err)
	}
	s.room.look(resource.KindServer, "n1", true)
	row := func(row string) {
		s.change(t, "n1", func(o *resource.Server) { o.Metadata.Labels = map[string]string{"row": row} })
	}
	row("6")
	o := &out{ctx: t.Context(), write: func([][]byte) error { return nil }, lines: s.room.metrics.lines}
	for _, shown := range w.queue.take(batch) {
		w.tell(o, shown)
	}
	if len(o.pending) != 0 {
		t.Errorf("he was told of what he may not see: %s", o.pending)
	}
	row("7")
	s.room.look(resource.KindServer, "n1", false)
	for _, shown := range w.queue.take(batch) {
		w.tell(o, shown)
	}
	if len(o.pending) != 1 || !bytes.Contains(o.pending[0], []byte(`"put"`)) {
		t.Errorf("he was told %s", o.pending)
	}
}

// A resource that is elsewhere while a watch begins, and is back before anybody has looked, is told: for those who had it
// nothing has changed, and who begins has passed it over.
func TestBackAfterPassedOver(t *testing.T) {
	only, err := selector.ParseOnly("status.phase", resource.KindServer)
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		ask  func(t *testing.T) Ask
		away func(s *site, row string)
	}{
		"its label, to who asks for it": {func(t *testing.T) Ask {
			labels, err := selector.Parse("row=7")
			if err != nil {
				t.Fatal(err)
			}
			return Ask{Who: admin(), Selector: "row=7", Labels: labels}
		}, func(s *site, row string) {
			s.change(t, "n1", func(o *resource.Server) { o.Metadata.Labels = map[string]string{"row": row} })
		}},
		"its label, to whose scope that is": {func(*testing.T) Ask { return Ask{Who: row7()} }, func(s *site, row string) {
			s.change(t, "n1", func(o *resource.Server) { o.Metadata.Labels = map[string]string{"row": row} })
		}},
	} {
		for _, when := range []string{"is back after he has begun", "is back while he begins"} {
			t.Run(name+", "+when, func(t *testing.T) {
				s := newSite(t, nil)
				s.put(t, storetest.Rack("r1"), storetest.Segment("boot", "r1"), storetest.BMC("b1", "r1"), server("n1", "7"))
				s.stop() // nobody looks but this test
				begin := func() (*Watch, *out) {
					ask := row.ask(t)
					ask.Kind, ask.Only = resource.KindServer, only
					w, err := s.room.Begin(ask)
					if err != nil {
						t.Fatal(err)
					}
					return w, &out{ctx: t.Context(), write: func([][]byte) error { return nil }, lines: s.room.metrics.lines, wrote: time.Now()}
				}
				other, o := begin()
				other.list(o)
				if len(o.pending) != 1 {
					t.Fatalf("the first was told %s", o.pending)
				}
				row.away(s, "6")
				w, o := begin()
				w.list(o)
				if when == "is back while he begins" {
					row.away(s, "7")
				}
				w.passedOver()
				if when != "is back while he begins" {
					row.away(s, "7")
				}
				s.room.look(resource.KindServer, "n1", false)
				for _, shown := range w.queue.take(batch) {
					w.tell(o, shown)
				}
				if len(o.pending) == 0 || !bytes.Contains(o.pending[len(o.pending)-1], []byte(`"put"`)) {
					t.Errorf("he was told %s", o.pending)
				}
			})
		}
	}
}
