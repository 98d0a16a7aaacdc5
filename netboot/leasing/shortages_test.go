package leasing

import (
	"strconv"
	"testing"
	"time"
)

// TestShortages: of each machine once a minute, and no more machines than are remembered.
func TestShortages(t *testing.T) {
	now := time.Unix(0, 0)
	s := NewShortages()
	told := 0
	for i := range 2 * maxShort {
		if s.Tell(strconv.Itoa(i), now) {
			told++
		}
	}
	if told != maxShort || s.Tell("0", now.Add(shortAgain-1)) {
		t.Errorf("told of %d", told)
	}
	if !s.Tell("0", now.Add(shortAgain)) || !s.Tell("new", now.Add(shortAgain)) {
		t.Error("not told again")
	}
}
