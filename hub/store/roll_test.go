package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rackboot/hub/store/storetest"
	"rackboot/protocol/natural"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Whatever is written and deleted while somebody goes over pages: each name that is there throughout is
// shown once, one that comes or goes meanwhile at most once, nothing that never was, and all in order.
func TestPagesShowOnceWhatIsThereThroughout(t *testing.T) {
	const bucket = "res.servers"
	rapid.Check(t, func(t *rapid.T) {
		m := newMirror()
		revision := uint64(0)
		throughout, ever := map[string]bool{}, map[string]bool{}
		name := rapid.StringMatching(`[ab]?[0-9]{1,2}`)
		change := func() {
			n := name.Draw(t, "name")
			revision++
			e := cached{Entry: state.Entry{Key: bucket + "." + n, Revision: revision}}
			old, there := m.get(e.Key)
			switch rapid.SampledFrom([]string{"write", "delete", "bury"}).Draw(t, "change") {
			case "write":
				m.apply(e)
				ever[n] = true
			case "delete":
				e.Deleted = true
				m.applyWatched(e)
				delete(throughout, n)
			case "bury":
				if there {
					m.bury(e.Key, old.Revision)
				}
				delete(throughout, n)
			}
		}
		for range rapid.IntRange(0, 40).Draw(t, "before") {
			change()
		}
		clear(ever)
		for _, e := range m.list(bucket) {
			_, n := split(e.Key)
			throughout[n], ever[n] = true, true
		}
		var seen []string
		last := ""
		for {
			page := m.after(bucket, last, rapid.IntRange(1, 4).Draw(t, "n"))
			if len(page) == 0 {
				break
			}
			for _, e := range page {
				_, last = split(e.Key)
				seen = append(seen, last)
			}
			for range rapid.IntRange(0, 5).Draw(t, "between") {
				change()
			}
			if made, kept := rollOf(m.buckets[bucket]), m.rolls[bucket]; !slices.Equal(made, kept) {
				t.Fatalf("the roll is %q, and what is there %q", kept, made)
			}
		}
		for i, n := range seen {
			if !ever[n] || i > 0 && natural.Compare(seen[i-1], n) >= 0 {
				t.Fatalf("%q of %q is out of order, twice, or never was", n, seen)
			}
			delete(throughout, n)
		}
		if len(throughout) > 0 {
			t.Fatalf("%v were there throughout, and are not among %q", throughout, seen)
		}
	})
}

// A position is a name, also one that is not there; what cannot be read is left out and ends no list.
func TestAfter(t *testing.T) {
	mem := storetest.NewMemory()
	s := open(t, mem)
	for _, n := range []string{"r2", "r10", "r1"} {
		apply(t, s, storetest.Rack(n))
	}
	names := func(after string, n int) (out []string) {
		for _, r := range After[*resource.Rack](s.Objects, after, n) {
			out = append(out, r.Metadata.Name)
		}
		return out
	}
	for _, row := range []struct {
		after string
		n     int
		want  []string
	}{
		{"", 9, []string{"r1", "r2", "r10"}},
		{"", 2, []string{"r1", "r2"}},
		{"r2", 9, []string{"r10"}},
		{"r3", 9, []string{"r10"}},
		{"r10", 9, nil},
		{"z", 9, nil},
	} {
		if got := names(row.after, row.n); !slices.Equal(got, row.want) {
			t.Errorf("%d after %q: %q, want %q", row.n, row.after, got, row.want)
		}
	}
	s.core.mirror.apply(cached{Entry: state.Entry{Key: "res.racks.r0", Revision: 900}}, cached{Entry: state.Entry{Key: "res.racks.r5", Revision: 901}})
	if got, want := names("", 1), []string{"r1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := names("r2", 1), []string{"r10"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := After[*resource.Server](s.Objects, "", 9); len(got) > 0 {
		t.Errorf("of another kind: %v", got)
	}
}

// BenchmarkAfter takes 500 of 50,000, as they are, while each is written, and while names come and go.
func BenchmarkAfter(b *testing.B) {
	const bucket, servers = "res.servers", 50_000
	m := newMirror()
	for i := range servers {
		m.set(cached{Entry: state.Entry{Key: fmt.Sprintf("%s.n%d", bucket, i), Revision: uint64(i + 1)}})
	}
	m.after(bucket, "", 1)
	revision := uint64(servers)
	at := func(i int) state.Entry {
		revision++
		return state.Entry{Key: fmt.Sprintf("%s.n%d", bucket, i*7919%servers), Revision: revision}
	}
	b.Run("sorted first", func(b *testing.B) {
		for b.Loop() {
			rollOf(m.buckets[bucket])
		}
	})
	b.Run("at rest", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			m.after(bucket, fmt.Sprint("n", i*7919%servers), 500)
		}
	})
	b.Run("written", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			m.set(cached{Entry: at(i)})
		}
	})
	b.Run("gone and come", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			gone := at(i)
			gone.Deleted = true
			m.set(cached{Entry: gone})
			m.set(cached{Entry: at(i)})
		}
	})
}

// Pages are read while others write: what is there throughout is in each walk once.
func TestPagesWhileOthersWrite(t *testing.T) {
	s := open(t, storetest.NewMemory())
	const kept = 60
	for i := range kept {
		apply(t, s, storetest.Rack(fmt.Sprintf("r%d", i)))
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			name := fmt.Sprintf("r%d-x", i%kept)
			if err := s.Objects.Put(t.Context(), storetest.Rack(name)); err != nil {
				t.Error(err)
				return
			}
			if _, err := s.Delete(t.Context(), resource.KindRack, name); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for range 50 {
		var seen []string
		for last, done := "", false; !done; {
			page := After[*resource.Rack](s.Objects, last, 7)
			for _, r := range page {
				last = r.Metadata.Name
				if !strings.HasSuffix(last, "-x") {
					seen = append(seen, last)
				}
			}
			done = len(page) < 7
		}
		if len(seen) != kept || len(slices.Compact(slices.Clone(seen))) != kept || !slices.IsSortedFunc(seen, natural.Compare) {
			t.Errorf("%d of %d: %q", len(seen), kept, seen)
			break
		}
	}
	close(stop)
	<-ended
}
