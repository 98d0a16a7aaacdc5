package hub

import (
	"runtime/debug"
	"testing"
)

func TestTooMuch(t *testing.T) {
	const mib = 1 << 20
	for _, row := range []struct {
		live, beyond uint64
		garbage      int
		want         bool
	}{
		{20 * mib, 10 * mib, 50, false},
		{20 * mib, 60 * mib, 50, false},
		{20 * mib, 90 * mib, 50, true},
		{700 * mib, 350 * mib, 50, false},
		{700 * mib, 351 * mib, 50, true},
		{700 * mib, 1400 * mib, 50, true},
		{700 * mib, 245 * mib, 20, false},
		{700 * mib, 246 * mib, 20, true},
		{0, 0, 50, false},
	} {
		if got := (heap{live: row.live, beyond: row.beyond}).tooMuch(row.garbage); got != row.want {
			t.Errorf("%d MiB beyond %d MiB: %v", row.beyond/mib, row.live/mib, got)
		}
	}
	for _, row := range []struct {
		live, allocated uint64
		want            int
	}{
		{500 * mib, 10 * mib, 10}, // at rest
		{500 * mib, 30 * mib, 15},
		{500 * mib, 50 * mib, 30},
		{500 * mib, 57 * mib, 30},
		{500 * mib, 100 * mib, 60},
		{500 * mib, 500 * mib, 100}, // while it installs
		{0, 100 * mib, 100},
		{0, 0, 10},
	} {
		if got := percent(row.live, row.allocated); got != row.want {
			t.Errorf("%d MiB live, %d MiB allocated: %d %%", row.live/mib, row.allocated/mib, got)
		}
	}
	before := read()
	debug.FreeOSMemory()
	if now := read(); now.live == 0 || now.collections <= before.collections {
		t.Errorf("%+v, after a collection %+v", before, now)
	}
}
