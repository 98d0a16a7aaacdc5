package store

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"rackboot/hub/store/storetest"
	"rackboot/protocol/natural"
	"rackboot/protocol/resource"
)

// scan are the names of servers that a selector matches, with the labels of their racks or without: whoever may not see a
// rack does not have its labels count.
func scan(s *Store, by resource.Selector, racks bool) (names []string) {
	for _, srv := range List[*resource.Server](s.Objects) {
		labels := map[string]string{}
		if seg, err := Peek[*resource.Segment](s.Objects, srv.Spec.SegmentRef.Name); racks && err == nil {
			if rack, err := Peek[*resource.Rack](s.Objects, seg.Spec.RackRef.Name); err == nil {
				maps.Copy(labels, rack.Metadata.Labels)
			}
		}
		maps.Copy(labels, srv.Metadata.Labels)
		if by.Matches(labels) {
			names = append(names, srv.Metadata.Name)
		}
	}
	slices.SortFunc(names, natural.Compare)
	return names
}

// Whatever is labelled, moved and deleted: what a selector is narrowed to has all that a walk over everything finds, in order
// and once.
func TestNarrowHasAllThatAScanFinds(t *testing.T) {
	narrowed := 0
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		s := openMemory(t)
		put := func(obj resource.Object) {
			t.Helper()
			if old, err := s.Objects.Get(obj.Head().Kind, obj.Head().Metadata.Name); err == nil {
				obj.Head().Metadata.Revision, obj.Head().Metadata.UID = old.Head().Metadata.Revision, old.Head().Metadata.UID
			}
			if err := s.Objects.Put(t.Context(), obj); err != nil {
				t.Fatal(err)
			}
		}
		draw := func() map[string]string {
			out := map[string]string{}
			for range rnd.IntN(3) {
				out[[]string{"row", "zone", "gpu"}[rnd.IntN(3)]] = fmt.Sprint(rnd.IntN(9))
			}
			return out
		}
		for i := range 6 {
			put(storetest.Rack(fmt.Sprint("r", i)))
			put(storetest.Segment(fmt.Sprint("s", i), fmt.Sprint("r", i)))
			put(storetest.BMC(fmt.Sprint("b", i), fmt.Sprint("r", i)))
		}
		server := func(i int, labels map[string]string) *resource.Server {
			srv := storetest.Server(fmt.Sprint("n", i), fmt.Sprint("b", i%6), fmt.Sprint("s", i%6), fmt.Sprintf("52:54:00:00:00:%02x", i))
			srv.Spec.SystemURI = fmt.Sprint("/redfish/v1/Systems/", i)
			srv.Metadata.Labels = labels
			return srv
		}
		for i := range 60 {
			put(server(i, nil))
		}
		for range 150 {
			switch i := rnd.IntN(60); rnd.IntN(5) {
			case 0:
				rack := storetest.Rack(fmt.Sprint("r", rnd.IntN(6)))
				rack.Metadata.Labels = draw()
				put(rack)
			case 1:
				if _, err := s.Delete(t.Context(), resource.KindServer, fmt.Sprint("n", i)); err != nil && s.Objects.PeekOf(resource.KindServer, fmt.Sprint("n", i)) != nil {
					t.Fatal(err)
				}
			case 2, 3:
				put(server(i, draw()))
			}
			by := resource.Selector{MatchLabels: draw()}
			if rnd.IntN(2) == 0 {
				by.MatchExpressions = append(by.MatchExpressions, resource.SelectorExpression{
					Key: "row", Operator: resource.SelectorOperators()[rnd.IntN(4)], Values: []string{fmt.Sprint(rnd.IntN(9)), fmt.Sprint(rnd.IntN(9))},
				})
			}
			n, few := s.Objects.Narrow(resource.KindServer, by)
			if !few {
				continue
			}
			narrowed++
			var got []string
			size := 1 + rnd.IntN(5)
			for at := ""; ; {
				page := n.After(at, size)
				for _, obj := range page {
					at = obj.Head().Metadata.Name
					got = append(got, at)
				}
				if len(page) < size {
					break
				}
			}
			if !slices.IsSortedFunc(got, natural.Compare) || len(slices.Compact(slices.Clone(got))) != len(got) {
				t.Fatalf("%s: not in order, or not once: %v", by, got)
			}
			for _, racks := range []bool{true, false} {
				for _, name := range scan(s, by, racks) {
					if !slices.Contains(got, name) {
						t.Fatalf("%s: %s matches, and is not among %v", by, name, got)
					}
				}
			}
			if all := n.All(); len(all) != len(got) || !slices.IsSortedFunc(all, func(a, b resource.Object) int {
				return slices.Compare([]string{a.Head().Metadata.Name}, []string{b.Head().Metadata.Name})
			}) {
				t.Fatalf("%d in pages, and %d at once", len(got), len(all))
			}
		}
	}
	if narrowed < 100 {
		t.Errorf("only %d selectors were narrowed", narrowed)
	}
}

// Of kinds of which nobody knows the rack without a walk, a label of a rack has one look at all.
func TestNarrowOfWhatIsFoundThroughServers(t *testing.T) {
	s := openMemory(t)
	rack := storetest.Rack("r1")
	rack.Metadata.Labels = map[string]string{"row": "7"}
	if err := s.Objects.Put(t.Context(), rack); err != nil {
		t.Fatal(err)
	}
	for _, kind := range resource.Kinds() {
		_, few := s.Objects.Narrow(kind, resource.Selector{MatchLabels: map[string]string{"row": "7"}})
		_, none := s.Objects.Narrow(kind, resource.Selector{MatchLabels: map[string]string{"row": "8"}})
		through := slices.Contains([]resource.Kind{resource.KindClaim, resource.KindHold, resource.KindMaintenance, resource.KindBootConfiguration}, kind)
		if kind != resource.KindRack && few == through || !none {
			t.Errorf("%s: narrowed %t, of a label that nobody has %t", kind, few, none)
		}
		if _, few := s.Objects.Narrow(kind, resource.Selector{MatchExpressions: []resource.SelectorExpression{{Key: "row", Operator: resource.SelectDoesNotExist}}}); few {
			t.Errorf("%s: what must not be there is no way", kind)
		}
	}
}

func openMemory(t testing.TB) *Store {
	t.Helper()
	mem := storetest.NewMemory()
	id := 0
	s, err := Open(t.Context(), Config{KV: mem, Log: mem, Clock: time.Now, NewID: func() string { id++; return fmt.Sprintf("01b%d", id) }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// BenchmarkNarrow looks for servers by labels among 50,000 with four labels each, through the index and by a walk over all;
// and says what the index keeps, and what a change of a label costs with it.
func BenchmarkNarrow(b *testing.B) {
	const servers = 50_000
	s := fleetStore(b, servers)
	m := s.core.mirror
	for i := range servers {
		obj, err := Get[*resource.Server](s.Objects, fmt.Sprint("n", i))
		if err != nil {
			b.Fatal(err)
		}
		obj.Metadata.Labels = map[string]string{"row": fmt.Sprint("row-", i/2500), "zone": fmt.Sprint("z", i%3), "model": fmt.Sprint("m", i%7), "serial": fmt.Sprint(i)}
		if err := s.Objects.Put(b.Context(), obj); err != nil {
			b.Fatal(err)
		}
	}
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var st runtime.MemStats
		runtime.ReadMemStats(&st)
		return st.HeapAlloc
	}
	b.Run("make", func(b *testing.B) {
		kept := 0.0
		for b.Loop() {
			delete(m.labels, bucketOf(resource.KindServer))
			b.StopTimer()
			before := heap()
			b.StartTimer()
			m.index(bucketOf(resource.KindServer))
			b.StopTimer()
			kept = float64(heap()-before) / servers
			b.StartTimer()
		}
		b.ReportMetric(kept/4, "B/label")
		b.ReportMetric(kept, "B/server")
	})
	rack := map[string]string{}
	for _, row := range []struct {
		name string
		by   resource.Selector
		want int
	}{
		{"one of 50000", resource.Selector{MatchLabels: map[string]string{"serial": "40001"}}, 1},
		{"2500 of 50000", resource.Selector{MatchLabels: map[string]string{"row": "row-7"}}, 2500},
		{"two labels", resource.Selector{MatchLabels: map[string]string{"row": "row-7", "model": "m3"}}, 357},
		{"none", resource.Selector{MatchLabels: map[string]string{"row": "none"}}, 0},
	} {
		b.Run(row.name+"/index", func(b *testing.B) {
			for b.Loop() {
				n, few := s.Objects.Narrow(resource.KindServer, row.by)
				found := 0
				for _, obj := range n.All() {
					if row.by.Matches(obj.Head().Metadata.Labels) {
						found++
					}
				}
				if !few || found < row.want-1 || found > row.want+1 {
					b.Fatal(few, found)
				}
			}
		})
		b.Run(row.name+"/scan", func(b *testing.B) {
			for b.Loop() {
				found := 0
				for _, obj := range List[*resource.Server](s.Objects) {
					labels := maps.Clone(rack)
					maps.Copy(labels, obj.Metadata.Labels)
					if row.by.Matches(labels) {
						found++
					}
				}
				if found < row.want-1 || found > row.want+1 {
					b.Fatal(found)
				}
			}
		})
	}
	for _, with := range []bool{false, true} {
		b.Run(fmt.Sprintf("relabel/index=%t", with), func(b *testing.B) {
			delete(m.labels, bucketOf(resource.KindServer))
			if with {
				m.index(bucketOf(resource.KindServer))
			}
			i := 0
			for b.Loop() {
				i++ // names far apart
				obj, err := Get[*resource.Server](s.Objects, fmt.Sprint("n", i*7919%servers))
				if err != nil {
					b.Fatal(err)
				}
				obj.Metadata.Labels["zone"] = fmt.Sprint("z", i%3)
				if err := s.Objects.Put(b.Context(), obj); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
