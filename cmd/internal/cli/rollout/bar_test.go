package rollout

import (
	"slices"
	"testing"

	"rackboot/protocol/resource"
)

// A bar has its width, its states in order, at least one character for each, and none for
// those that nobody is in.
func TestRolloutBar(t *testing.T) {
	for _, row := range []struct {
		done, begun, failed, waiting, width int
		want                                string
	}{
		{0, 0, 0, 0, 4, "    "},
		{1, 0, 0, 0, 4, "####"},
		{1, 0, 0, 1, 4, "##.."},
		{999, 0, 1, 0, 10, "#########x"},
		{1, 1, 1, 997, 10, "#>x......."},
		{2, 1, 0, 1, 8, "####>>.."},
		{1, 1, 1, 1, 3, "   "}, // too narrow to be true
		{1, 1, 1, 1, 0, ""},
	} {
		c := Counts{resource.MemberDone: row.done, resource.MemberBegun: row.begun, resource.MemberFailed: row.failed, resource.MemberWaiting: row.waiting}
		if got := Bar(c, row.width); got != row.want {
			t.Errorf("%+v: %q", row, got)
		}
	}
	signs := Signs()
	for seed := range 4096 {
		c, want := Counts{}, ""
		for i, s := range signs {
			if n := seed >> (2 * i) & 3; n > 0 && i < 6 {
				c[s.State] = n * n * n
				want += string(s.Sign)
			}
		}
		bar := Bar(c, 30)
		if got := string(slices.Compact([]rune(bar))); len(bar) != 30 || len(c) > 0 && got != want {
			t.Fatalf("%v: %q of %d, which has not %q", c, bar, len(bar), want)
		}
	}
}
