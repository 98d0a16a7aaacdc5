package labels

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rackboot/protocol/natural"
	"rackboot/protocol/resource"
)

// one is a label's key or value out of a few.
func one(t *rapid.T, what string, of ...string) string { return rapid.SampledFrom(of).Draw(t, what) }

func drawLabels(t *rapid.T) map[string]string {
	out := map[string]string{}
	for range rapid.IntRange(0, 3).Draw(t, "labels") {
		out[one(t, "key", "row", "zone", "gpu")] = one(t, "value", "", "1", "7", "x")
	}
	return out
}

func drawSelector(t *rapid.T) (s resource.Selector) {
	for range rapid.IntRange(0, 2).Draw(t, "matchLabels") {
		if s.MatchLabels == nil {
			s.MatchLabels = map[string]string{}
		}
		s.MatchLabels[one(t, "key", "row", "zone", "none")] = one(t, "value", "", "1", "7")
	}
	for range rapid.IntRange(0, 2).Draw(t, "matchExpressions") {
		s.MatchExpressions = append(s.MatchExpressions, resource.SelectorExpression{
			Key:      one(t, "key", "row", "zone", "none"),
			Operator: rapid.SampledFrom(resource.SelectorOperators()).Draw(t, "operator"),
			Values:   rapid.SliceOfN(rapid.SampledFrom([]string{"", "1", "7", "9"}), 0, 3).Draw(t, "values"),
		})
	}
	return s
}

// Whatever labels come and go, each part of a selector finds all that the selector matches, and nothing that does not have
// the part; in pages of any size, in order and each once.
func TestTheIndexFindsWhatAScanDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := map[string]map[string]string{}
		begin := rapid.IntRange(0, 20).Draw(t, "at first")
		for i := range begin {
			now[fmt.Sprint("n", i)] = drawLabels(t)
		}
		x := Of(func(yield func(string, map[string]string) bool) {
			for _, name := range slices.SortedFunc(maps.Keys(now), natural.Compare) {
				if !yield(name, now[name]) {
					return
				}
			}
		})
		for range rapid.IntRange(0, 30).Draw(t, "changes") {
			name := fmt.Sprint("n", rapid.IntRange(0, 20).Draw(t, "name"))
			is := drawLabels(t)
			if rapid.Bool().Draw(t, "goes") {
				is = nil
			}
			x.Change(name, now[name], is)
			if now[name] = is; is == nil {
				delete(now, name)
			}
		}
		s := drawSelector(t)
		for _, p := range Parts(s) {
			var want []string
			for name, labels := range now {
				value, there := labels[p.Key]
				if there && (p.Values == nil || slices.Contains(p.Values, value)) {
					want = append(want, name)
				}
			}
			slices.SortFunc(want, natural.Compare)
			lists := x.Lists(p)
			if n := x.Count(p); n != len(want) {
				t.Fatalf("%+v: %d are counted, and %v have it", p, n, want)
			}
			var got []string
			size := rapid.IntRange(1, 8).Draw(t, "page")
			for at := ""; ; {
				page := After(lists, at, size)
				got = append(got, page...)
				if len(page) < size {
					break
				}
				at = page[len(page)-1]
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%+v: got %v, want %v", p, got, want)
			}
			for name, labels := range now {
				if s.Matches(labels) && !slices.Contains(got, name) {
					t.Fatalf("%s: %s matches, and %+v does not find it", s, name, p)
				}
			}
		}
		for name := range now {
			x.Change(name, now[name], nil)
		}
		if len(x.names) != 0 {
			t.Fatalf("all are gone, and %v is left", x.names)
		}
	})
}

// What a selector only forbids is no way to what it selects.
func TestParts(t *testing.T) {
	for _, row := range []struct {
		of   resource.Selector
		want string
	}{
		{resource.Selector{}, "[]"},
		{resource.Selector{MatchLabels: map[string]string{"b": "2", "a": "1"}}, "[{a [1]} {b [2]}]"},
		{resource.Selector{MatchExpressions: []resource.SelectorExpression{{Key: "a", Operator: resource.SelectNotIn, Values: []string{"1"}}, {Key: "b", Operator: resource.SelectDoesNotExist}}}, "[]"},
		{resource.Selector{MatchExpressions: []resource.SelectorExpression{{Key: "a", Operator: resource.SelectIn, Values: []string{"2", "1", "2"}}, {Key: "b", Operator: resource.SelectExists}}}, "[{a [1 2]} {b []}]"},
	} {
		if got := fmt.Sprint(Parts(row.of)); got != row.want {
			t.Errorf("%s: got %s, want %s", row.of, got, row.want)
		}
	}
	if p := Parts(resource.Selector{MatchExpressions: []resource.SelectorExpression{{Key: "a", Operator: resource.SelectIn}}}); p[0].Values == nil {
		t.Error("in () means any value")
	}
}

// Lists may share names, as those of resources and of their racks do.
func TestAfterHasEachOnce(t *testing.T) {
	lists := [][]string{{"n1", "n2", "n10"}, {}, {"n2", "n3", "n10"}, {"n10"}}
	if got := After(lists, "", 10); !slices.Equal(got, []string{"n1", "n2", "n3", "n10"}) {
		t.Error(got)
	}
	if got := After(lists, "n2", 1); !slices.Equal(got, []string{"n3"}) {
		t.Error(got)
	}
	if got := After(lists, "n10", 1); got != nil {
		t.Error(got)
	}
}
