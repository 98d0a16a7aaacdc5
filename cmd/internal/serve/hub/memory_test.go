package hub

import (
	"runtime/debug"
	"testing"
)

func TestTooMuch(t *testing.T) {
	const mib = 1 << 20
	for _, row := range []struct {
		live, beyond uint64
		want         bool
	}{
		{20 * mib, 10 * mib, false},
		{20 * mib, 60 * mib, false},
		{20 * mib, 90 * mib, true},
		{700 * mib, 350 * mib, false},
		{700 * mib, 351 * mib, true},
		{700 * mib, 1400 * mib, true},
		{0, 0, false},
	} {
		if got := (heap{live: row.live, beyond: row.beyond}).tooMuch(); got != row.want {
			t.Errorf("%d MiB beyond %d MiB: %v", row.beyond/mib, row.live/mib, got)
		}
	}
	before := read()
	debug.FreeOSMemory()
	if now := read(); now.live == 0 || now.collections <= before.collections {
		t.Errorf("%+v, after a collection %+v", before, now)
	}
}
