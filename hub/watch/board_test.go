package watch

import (
	"bytes"
	"testing"

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
