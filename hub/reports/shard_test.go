package reports

import (
	"slices"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// all is a rack with every server.
func all() Rack { return rackWith(0) }

// rackWith is a rack with every server but some.
func rackWith(changes uint64, not ...string) Rack {
	return Rack{Changes: changes, Has: func(s string) bool { return !slices.Contains(not, s) }}
}

// told is a report of servers n1 and n2, or one that stands for it.
func told(seq, as uint64, at time.Time) message.Report {
	r := message.Report{Agent: "a", Session: "s", Seq: seq, As: as, At: at, Shards: 1}
	for _, name := range []string{"n1", "n2"} {
		if as > 0 {
			r.Reads = append(r.Reads, message.Read{Age: 2 * time.Second, Took: time.Second})
			continue
		}
		s := resource.ServerReport{Server: name, ReadAge: 3 * time.Second, Observation: protocol.Observation{StartedAt: at.Add(-3 * time.Second), ReadAt: at.Add(-time.Second)}}
		r.Servers = append(r.Servers, s)
	}
	return r
}

// A report that stands for an earlier one is taken where that one is here, or a later one with the
// same content, and speaks of the servers of its agent's rack alone.
func TestSame(t *testing.T) {
	at := time.Unix(1000, 0)
	for _, row := range []struct {
		name   string
		before func(m *Mirror)
		change func(r *message.Report)
		rack   Rack
		want   string // the servers that were heard of; empty where the report is not taken
	}{
		{"the one before", nil, nil, all(), "n1 n2"},
		{"one before a later one that is the same", func(m *Mirror) { m.Put(told(2, 0, at), all(), at) }, nil, all(), "n1 n2"},
		{"one that never came", nil, func(r *message.Report) { r.As = 2 }, all(), ""},
		{"of another session", nil, func(r *message.Report) { r.Session = "t" }, all(), ""},
		{"of another shard", nil, func(r *message.Report) { r.Shard = 1 }, all(), ""},
		{"of more servers", nil, func(r *message.Report) { r.Reads = append(r.Reads, message.Read{}) }, all(), ""},
		{"of fewer servers", nil, func(r *message.Report) { r.Reads = r.Reads[:1] }, all(), ""},
		{"of an agent that was dropped", func(m *Mirror) { m.Drop("a", []string{"n1", "n2"}) }, nil, all(), ""},
		{"after a server left the rack", nil, nil, rackWith(1, "n2"), "n1"},
		{"after a change that concerns no server", nil, nil, rackWith(1), "n1 n2"},
		{"after a server came into the rack", func(m *Mirror) { m.Put(told(2, 0, at), rackWith(1, "n2"), at) }, nil, rackWith(2), ""},
		{"of a server that never was in the rack", func(m *Mirror) { m.Put(told(2, 0, at), rackWith(1, "n2"), at) }, nil, rackWith(2, "n2"), "n1"},
	} {
		m := New()
		m.Put(told(1, 0, at), all(), at)
		if row.before != nil {
			row.before(m)
		}
		later := at.Add(10 * time.Second)
		r := told(3, 1, later)
		if row.change != nil {
			row.change(&r)
		}
		_, _, have := m.Change(r, row.rack, later)
		heard := ""
		for _, name := range []string{"n1", "n2"} {
			if s, got := m.Server(name); s != nil && got.Equal(later) {
				heard += " " + name
				if read := m.Read(name); !read.At.Equal(later.Add(-2*time.Second)) || !read.Started.Equal(later.Add(-2*time.Second)) || !read.Ended.Equal(later.Add(-time.Second)) {
					t.Errorf("%s: %s was read %+v", row.name, name, read)
				}
			}
		}
		if have != (row.want != "") || len(heard) > 0 && heard[1:] != row.want || len(heard) == 0 && row.want != "" {
			t.Errorf("%s: taken %t, heard of%s; want %q", row.name, have, heard, row.want)
		}
		if _, got, _ := m.Agent("a"); row.want != "" && !got.Equal(later) {
			t.Errorf("%s: the agent was heard at %s", row.name, got)
		}
	}
}

// What the hub has is said by shard, of the session that is asked for, and a report that stands for
// another is none.
func TestReported(t *testing.T) {
	m, at := New(), time.Unix(1000, 0)
	if got := m.Reported("a", "s"); got != nil {
		t.Errorf("of nobody %v", got)
	}
	r := told(4, 0, at)
	r.Shard, r.Shards = 2, 3
	m.Put(r, all(), at)
	as := told(5, 4, at)
	as.Shard, as.Shards = 2, 3
	if _, _, have := m.Change(as, all(), at); !have || !slices.Equal(m.Reported("a", "s"), []uint64{0, 0, 4}) {
		t.Errorf("%t, %v", have, m.Reported("a", "s"))
	}
	if m.Accepts("a", as) {
		t.Error("it is taken twice")
	}
	if got := m.Reported("a", "t"); got != nil {
		t.Errorf("of another session %v", got)
	}
}

// Each minute all of it is taken as news, whichever way it is said.
func TestSameIsNewsInTime(t *testing.T) {
	m, at := New(), time.Unix(1000, 0)
	if news, _ := m.Put(told(1, 0, at), all(), at); len(news) != 2 {
		t.Fatal("the first is no news")
	}
	for i, want := range []int{0, 0, 0, 2, 0} {
		at = at.Add(15 * time.Second)
		if news, _, have := m.Change(told(uint64(i+2), 1, at), all(), at); !have || len(news) != want {
			t.Errorf("report %d: %t, %d servers", i, have, len(news))
		}
	}
	m.Again("a", 0)
	if news, _, _ := m.Change(told(9, 1, at), all(), at); len(news) != 2 {
		t.Error("what could not be filed does not come again")
	}
}

// changes is a report that n2 has changed since as, of a shard that has n1 and n2 of revision 1.
func changes(seq, as uint64, at time.Time) message.Report {
	r := told(seq, as, at)
	r.Servers = []resource.ServerReport{{Server: "n2", PowerEpoch: seq, ReadAge: time.Second}}
	r.Revisions = []uint64{seq}
	r.Digest = message.ShardDigest(func(yield func(string, uint64) bool) { _ = yield("n1", 1) && yield("n2", seq) })
	return r
}

// A report of what has changed is taken where it comes to what the agent has; else the hub has nothing of the shard,
// until all of it is told, and what it knew of servers before stays.
func TestChange(t *testing.T) {
	at := time.Unix(1000, 0)
	for _, row := range []struct {
		name   string
		before func(m *Mirror)
		change func(r *message.Report)
		rack   Rack
		want   uint64 // what the hub has of the shard then
		epoch  uint64 // of n2
	}{
		{"since the one before", nil, nil, all(), 3, 3},
		{"since one before another change", func(m *Mirror) { m.Change(changes(2, 1, at), all(), at) }, nil, all(), 3, 3},
		{"since one that never came", nil, func(r *message.Report) { r.As = 2 }, all(), 1, 0},
		{"of a server that is not of the shard", nil, func(r *message.Report) { r.Servers[0].Server = "n3" }, all(), 0, 0},
		{"of a server twice", nil, func(r *message.Report) {
			r.Servers, r.Revisions = append(r.Servers, r.Servers[0]), append(r.Revisions, r.Revisions[0])
		}, all(), 0, 0},
		{"without revisions", nil, func(r *message.Report) { r.Revisions = nil }, all(), 0, 0},
		{"without a digest", nil, func(r *message.Report) { r.Digest = nil }, all(), 0, 0},
		{"with that of another shard", nil, func(r *message.Report) { r.Digest[0] ^= 1 }, all(), 0, 0},
		{"with a change lost that it does not repeat", nil, func(r *message.Report) {
			r.Digest = message.ShardDigest(func(yield func(string, uint64) bool) { _ = yield("n1", 2) && yield("n2", 3) })
		}, all(), 0, 0},
		{"nothing, and with another digest", nil, func(r *message.Report) { r.Servers, r.Revisions = nil, nil }, all(), 0, 0},
		{"of a server that has left the rack", nil, nil, rackWith(1, "n2"), 3, 0},
	} {
		m := New()
		first := told(1, 0, at)
		first.Revisions = []uint64{1, 1}
		m.Put(first, all(), at)
		if row.before != nil {
			row.before(m)
		}
		r := changes(3, 1, at.Add(time.Second))
		if row.change != nil {
			row.change(&r)
		}
		_, changed, have := m.Change(r, row.rack, at.Add(time.Second))
		if have != (row.want == 3) || changed != (row.epoch == 3) {
			t.Errorf("%s: taken %t, changed %t", row.name, have, changed)
		}
		if got := m.Reported("a", "s"); !slices.Equal(got, []uint64{row.want}) {
			t.Errorf("%s: the hub has %v", row.name, got)
		}
		if s, _ := m.Server("n2"); s.PowerEpoch != row.epoch {
			t.Errorf("%s: n2 is at %d", row.name, s.PowerEpoch)
		}
	}
}
