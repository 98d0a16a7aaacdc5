package heads

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
)

func TestLossRule(t *testing.T) {
	doctable.Of(t, "judge.go", "lossRule").HoldOne(t, [][]string{
		doctable.YesNo(), doctable.YesNo(), doctable.Words(absent, older, same, altered, newer, there), doctable.YesNo(),
	}, func(in []string) string {
		return string(lossRule(in[0] == "yes", in[1] == "yes", presence(in[2]), in[3] == "yes"))
	})
}

func TestCompareRule(t *testing.T) {
	epochs := map[string]int{"lower": -1, "same": 0, "above": 1}
	doctable.Of(t, "compare.go", "compareRule").HoldOne(t, [][]string{
		doctable.Words("same", "other"), doctable.Words("lower", "same", "above"), doctable.YesNo(),
	}, func(in []string) string {
		return string(compareRule(in[0] == "same", epochs[in[1]], in[2] == "yes"))
	})
}

func TestCompare(t *testing.T) {
	kept := Checkpoint{Store: "a", Epoch: 2, Sequence: 10, Streams: map[string]Extent{"s": {10, 10, 5}}, Audit: Entry{7, "x"}}
	with := func(change func(*Checkpoint)) Checkpoint {
		c := kept
		c.Streams = maps.Clone(kept.Streams)
		change(&c)
		return c
	}
	for name, row := range map[string]struct {
		now  Checkpoint
		want Standing
	}{
		"the same":            {kept, Onward},
		"more":                {with(func(c *Checkpoint) { c.Sequence, c.Streams["s"], c.Audit = 11, Extent{11, 11, 5}, Entry{8, "y"} }), Onward},
		"an earlier sequence": {with(func(c *Checkpoint) { c.Sequence = 9 }), Behind},
		"fewer messages":      {with(func(c *Checkpoint) { c.Streams["s"] = Extent{12, 9, 5} }), Behind},
		"no stream":           {with(func(c *Checkpoint) { c.Streams = nil }), Behind},
		"fewer entries":       {with(func(c *Checkpoint) { c.Audit.Seq = 6 }), Behind},
		"another entry":       {with(func(c *Checkpoint) { c.Audit.Hash = "z" }), Behind},
		"an earlier epoch":    {with(func(c *Checkpoint) { c.Epoch = 1 }), Behind},
		"restored":            {with(func(c *Checkpoint) { c.Store, c.Epoch, c.Sequence = "b", 3, 4 }), Replaced},
		"another hub's":       {with(func(c *Checkpoint) { c.Store, c.Sequence = "b", 400 }), Foreign},
	} {
		if got := Compare(kept, row.now); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
	}
}

// keysOf makes keys: each has its place in the list as revision.
func keysOf(names ...string) map[string]Key {
	out := map[string]Key{}
	for i, n := range names {
		out[n] = Key{Name: n, Revision: uint64(i + 1), Sum: uint32(i), Note: "note of " + n}
	}
	return out
}

func recordOf(t testing.TB, keys map[string]Key, sequence uint64) (Record, []byte) {
	t.Helper()
	var file []byte
	for _, k := range Sorted(keys) {
		file = AppendKey(file, k)
	}
	file, err := AppendCheckpoint(file, Checkpoint{Store: "a", Epoch: 1, Sequence: sequence, Kinds: Sums(keys), Streams: map[string]Extent{"s": {sequence, sequence, uint64(len(keys))}}})
	if err != nil {
		t.Fatal(err)
	}
	return Parse(file), file
}

// Each way in which a store may have less, and each in which it may have more.
func TestJudge(t *testing.T) {
	had := keysOf("res.holds.h1", "res.holds.h2", "res.claims.c1", "ledger.a1")
	was, _ := recordOf(t, had, 10)
	full := func(change func(*State)) State {
		s := State{Store: "a", Keys: maps.Clone(had), Deleted: map[string]uint64{}, Streams: map[string]Extent{"s": {10, 10, 4}}}
		change(&s)
		return s
	}
	for name, row := range map[string]struct {
		now  State
		want string // items; "-" is no loss
	}{
		"all of it": {full(func(*State) {}), "-"},
		"more":      {full(func(s *State) { s.Keys["res.holds.h3"] = Key{Name: "res.holds.h3", Revision: 11} }), "-"},
		"written again": {full(func(s *State) {
			s.Keys["res.holds.h1"] = Key{Name: "res.holds.h1", Revision: 12, Sum: 9}
		}), "-"},
		"deleted since":     {full(func(s *State) { delete(s.Keys, "res.holds.h1"); s.Deleted["res.holds.h1"] = 11 }), "-"},
		"one is gone":       {full(func(s *State) { delete(s.Keys, "res.holds.h1") }), "res.holds.h1 missing"},
		"an old deletion":   {full(func(s *State) { delete(s.Keys, "res.holds.h2"); s.Deleted["res.holds.h2"] = 1 }), "res.holds.h2 missing"},
		"an older value":    {full(func(s *State) { s.Keys["res.holds.h2"] = Key{Name: "res.holds.h2", Revision: 1} }), "res.holds.h2 older"},
		"another value":     {full(func(s *State) { s.Keys["ledger.a1"] = Key{Name: "ledger.a1", Revision: 4, Sum: 77} }), "ledger.a1 altered"},
		"one that was gone": {full(func(s *State) { s.Keys["res.holds.h0"] = Key{Name: "res.holds.h0", Revision: 9} }), "res.holds.h0 back"},
		"an unreadable one": {full(func(s *State) { delete(s.Keys, "res.claims.c1"); s.Unreadable = []string{"res.claims.c1"} }), "res.claims.c1 unreadable"},
		"a new unreadable":  {full(func(s *State) { s.Unreadable = []string{"res.claims.c9"} }), "res.claims.c9 unreadable"},
		"fewer messages":    {full(func(s *State) { s.Streams["s"] = Extent{10, 9, 4} }), ""},
		"another store":     {full(func(s *State) { s.Store = "b" }), ""},
		"nothing":           {State{}, "ledger.a1 missing, res.claims.c1 missing, res.holds.h1 missing, res.holds.h2 missing"},
	} {
		l := Judge(was, row.now)
		if l == nil {
			if row.want != "-" {
				t.Errorf("%s: no loss, want %s", name, row.want)
			}
			continue
		}
		var got []string
		for _, i := range l.Items {
			got = append(got, i.Kind+"."+i.Name+" "+string(i.How))
		}
		if strings.Join(got, ", ") != row.want || row.want == "-" {
			t.Errorf("%s: %v, want %s", name, got, row.want)
		}
		if l.Error() == "" || protocol.CodeOf(l.Err("read")) != protocol.CodeUnavailable || protocol.HintOf(l.Err("read")) == "" {
			t.Errorf("%s: %q says nothing", name, l)
		}
	}
	if l := Judge(was, full(func(s *State) { delete(s.Keys, "res.holds.h1") })); l.Items[0].Note != "note of res.holds.h1" || len(l.Of("res.holds")) != 1 || len(l.Of("res.claims")) != 0 {
		t.Errorf("%+v", l.Items)
	}
}

// Without names that can be believed, sums say what they can; without a checkpoint nothing is known.
func TestJudgeWithoutNames(t *testing.T) {
	had := keysOf("res.holds.h1", "res.holds.h2", "res.claims.c1")
	was, _ := recordOf(t, had, 3)
	was.Whole, was.Keys = false, nil
	now := State{Store: "a", Keys: maps.Clone(had), Streams: was.Streams}
	if l := Judge(was, now); l != nil {
		t.Errorf("all is there: %s", l)
	}
	delete(now.Keys, "res.holds.h1")
	if l := Judge(was, now); l == nil || !l.Unlisted || !maps.Equal(l.Counts, map[string]uint64{"res.holds": 2}) {
		t.Errorf("one is gone: %v", l)
	}
	now.Keys["res.claims.c9"] = Key{Name: "res.claims.c9", Revision: 4}
	if l := Judge(was, now); l != nil {
		t.Errorf("newer than the checkpoint: %s", l)
	}
	if l := Judge(Record{}, now); l != nil {
		t.Errorf("no checkpoint: %s", l)
	}
	now.Unreadable = []string{"res.holds.h2"}
	if l := Judge(Record{}, now); l == nil || len(l.Items) != 1 || !l.Unlisted {
		t.Errorf("no checkpoint, and one cannot be read: %v", l)
	}
}

// A record that is added to says what there is after each checkpoint, and what follows the last does not
// count.
func TestRecord(t *testing.T) {
	had := keysOf("res.holds.h1", "res.holds.h2")
	_, file := recordOf(t, had, 2)
	next := maps.Clone(had)
	delete(next, "res.holds.h1")
	next["res.claims.c1"] = Key{Name: "res.claims.c1", Revision: 3, Sum: 5, Note: "a \"quoted\"\nword"}
	file = AppendGone(file, "res.holds.h1")
	file = AppendKey(file, next["res.claims.c1"])
	whole := slices.Clone(file)
	file, err := AppendCheckpoint(file, Checkpoint{Store: "a", Sequence: 4, Kinds: Sums(next)})
	if err != nil {
		t.Fatal(err)
	}
	if r := Parse(file); !r.Whole || r.Sequence != 4 || !maps.Equal(r.Keys, next) || r.Size != int64(len(file)) {
		t.Errorf("%+v", r)
	}
	for cut := len(whole); cut < len(file); cut++ {
		if r := Parse(file[:cut]); !r.Whole || r.Sequence != 2 || !maps.Equal(r.Keys, had) {
			t.Fatalf("cut at %d: %+v", cut, r)
		}
	}
}

// Whatever byte is another: what is read is what was written, up to some checkpoint, or it says that it is
// not whole.
func TestRecordWithFlippedBytes(t *testing.T) {
	had := keysOf("res.holds.h1", "res.holds.h2", "ledger.a1")
	_, file := recordOf(t, had, 3)
	for i := range file {
		raw := slices.Clone(file)
		raw[i] ^= 0x10
		if r := Parse(raw); r.Whole && !maps.Equal(r.Keys, had) {
			t.Fatalf("byte %d: %+v", i, r)
		}
	}
}

func FuzzParse(f *testing.F) {
	_, file := recordOf(f, keysOf("res.holds.h1", "ledger.a1"), 2)
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Add([]byte("00000000 + a 1\n\n= {}\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := Parse(raw)
		if r.Whole && !maps.Equal(Sums(r.Keys), nonEmpty(r.Kinds)) || r.Size > int64(len(raw)) || !r.Known && len(r.Keys) > 0 {
			t.Errorf("%+v", r)
		}
	})
}

func TestDigestText(t *testing.T) {
	var s, again Sum
	s.Add(Key{Name: "a.b", Revision: 3})
	raw, err := json.Marshal(s)
	if err != nil || json.Unmarshal(raw, &again) != nil || again != s {
		t.Errorf("%s, %v", raw, err)
	}
	s.Take(Key{Name: "a.b", Revision: 3})
	if s != (Sum{}) {
		t.Errorf("%+v is left", s)
	}
	if json.Unmarshal([]byte(`{"digest":"zz"}`), &again) == nil {
		t.Error("no digest is taken")
	}
}

// What a change costs, and all of 50,000 keys: BenchmarkAdd is paid at each write.
func BenchmarkAdd(b *testing.B) {
	var s Sum
	k := Key{Name: "res.servers.rack-17-node-33", Revision: 4711, Sum: 12345}
	for b.Loop() {
		s.Add(k)
	}
}

func BenchmarkParse50000(b *testing.B) {
	keys := map[string]Key{}
	for i := range 50_000 {
		n := fmt.Sprintf("res.servers.rack-%d-node-%d", i/50, i%50)
		keys[n] = Key{Name: n, Revision: uint64(i + 1)}
	}
	_, file := recordOf(b, keys, 50_000)
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		Parse(file)
	}
}
