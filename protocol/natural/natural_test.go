package natural

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestNamesAreInTheOrderThatPeopleCountIn(t *testing.T) {
	want := []string{"", "n", "n1", "n2", "n09", "n9", "n9a", "n10", "n10-1", "n10-2", "n10-11", "n99999999999999999999999", "r1-n2", "r1-n10", "r2-n1", "r10-n1"}
	got := slices.Clone(want)
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		r.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		slices.SortFunc(got, Compare)
		if !slices.Equal(got, want) {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
	}
}

// An order that is none makes a sort of it nonsense.
func TestCompareIsAnOrder(t *testing.T) {
	text := rapid.StringMatching(`[a0-2-]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := text.Draw(t, "a"), text.Draw(t, "b"), text.Draw(t, "c")
		if Compare(a, b) != -Compare(b, a) || (Compare(a, b) == 0) != (a == b) {
			t.Errorf("%q and %q: %d and %d", a, b, Compare(a, b), Compare(b, a))
		}
		if Compare(a, b) <= 0 && Compare(b, c) <= 0 && Compare(a, c) > 0 {
			t.Errorf("%q <= %q <= %q, and the first is behind the last", a, b, c)
		}
	})
}
