package leasing

import (
	"strconv"
	"testing"
	"time"
)

// TestDecliners: a client has its budget, all have one together, and both fill up again.
func TestDecliners(t *testing.T) {
	now := time.Unix(0, 0)
	d := NewDecliners()
	count := func(n int, client func(int) string) (allowed int) {
		for i := range n {
			if d.Allow(client(i), now) {
				allowed++
			}
		}
		return allowed
	}
	one := func(int) string { return "a" }
	if got := count(146, one); got != declinesOfOne {
		t.Errorf("one client declined %d", got)
	}
	if got := count(5000, strconv.Itoa); got != declinesOfAll-declinesOfOne {
		t.Errorf("all others declined %d", got)
	}
	if len(d.by) > maxDecliners {
		t.Errorf("%d are remembered", len(d.by))
	}
	now = now.Add(declineOfOneEvery)
	if got := count(146, one); got != 1 {
		t.Errorf("after %s one client declined %d", declineOfOneEvery, got)
	}
	now = now.Add(time.Hour)
	if got := count(146, one); got != declinesOfOne {
		t.Errorf("after an hour one client declined %d", got)
	}
}
