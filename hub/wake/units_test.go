package wake

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"rackboot/protocol"
)

// Each rack is woken once in a round, and no tick wakes many more than its share.
func TestSweepsAreSpread(t *testing.T) {
	for _, n := range []int{0, 1, 7, sweepTicks, 1000} {
		var racks, woken []string
		for i := range n {
			racks = append(racks, fmt.Sprint(i))
		}
		r := newSweepRound(racks)
		for tick := range sweepTicks {
			if tick > 0 && r.over() {
				t.Fatalf("%d racks: the round was over after %d ticks", n, tick)
			}
			now := r.next()
			if len(now) > n/sweepTicks+1 {
				t.Errorf("%d racks: %d in one tick", n, len(now))
			}
			woken = append(woken, now...)
		}
		if !slices.Equal(woken, racks) || !r.over() {
			t.Errorf("%d racks: %d were woken, the round is over: %t", n, len(woken), r.over())
		}
	}
}

// What fails is tried again soon, and less often the longer it fails; a store that takes nothing
// is left alone for a while.
func TestPausesOfUnits(t *testing.T) {
	full := protocol.Errorf(protocol.CodeUnavailable, "put", "full")
	for _, row := range []struct {
		err  error
		n    int
		want time.Duration
	}{
		{errors.New("conflict"), 1, 200 * time.Millisecond},
		{errors.New("conflict"), 3, 800 * time.Millisecond},
		{errors.New("conflict"), 1000, 5 * time.Second},
		{full, 1, 2 * time.Second},
		{full, 1000, 2 * time.Second},
	} {
		if got := againAfter("", row.err, row.n); got != row.want {
			t.Errorf("%v for the %d. time: %s, want %s", row.err, row.n, got, row.want)
		}
	}
	for _, row := range []struct {
		unit       string
		took, want time.Duration
	}{
		{RackUnit("site"), time.Millisecond, 2 * time.Millisecond},
		{RackUnit("r1"), time.Second, restMax},
		{SiteUnit, 10 * time.Millisecond, 90 * time.Millisecond},
		{SiteUnit, time.Minute, siteRestMax},
	} {
		if got := rest(row.unit, row.took); got != row.want {
			t.Errorf("%s after %s: %s, want %s", row.unit, row.took, got, row.want)
		}
	}
}
