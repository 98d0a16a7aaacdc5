package leasing

import (
	"fmt"
	"testing"
	"time"
)

// TestLoops: equal offers are counted within their time, and what follows within an
// exchange counts nothing.
func TestLoops(t *testing.T) {
	l, now := newLoops(), time.Unix(0, 0)
	one, other := boot{client: "a", token: "1"}, boot{client: "a", token: "2"}
	for _, row := range []struct {
		boot  boot
		more  int
		after time.Duration
		want  int
	}{
		{one, 0, 0, 0},
		{one, 1, 0, 1},
		{one, 0, time.Second, 1},
		{one, 1, time.Second, 2},
		{other, 1, time.Second, 1},
		{one, 1, loopWindow - time.Nanosecond, 3},
		{one, 0, loopWindow, 0},
		{one, 1, loopWindow, 1},
	} {
		if n := l.count(row.boot, row.more, now.Add(row.after)); n != row.want {
			t.Errorf("%+v: %d", row, n)
		}
	}
}

func TestLoopsAreBounded(t *testing.T) {
	l, now := newLoops(), time.Unix(0, 0)
	for i := range 3 * loopMax {
		l.count(boot{client: fmt.Sprint(i)}, 1, now)
	}
	if len(l.entries) != loopMax || len(l.order) != loopMax {
		t.Errorf("%d entries, %d in order", len(l.entries), len(l.order))
	}
	if n := l.count(boot{client: "x"}, 1, now.Add(loopWindow)); n != 1 || len(l.entries) != 1 || len(l.order) != 1 {
		t.Errorf("after expiry %d entries, %d in order", len(l.entries), len(l.order))
	}
}
