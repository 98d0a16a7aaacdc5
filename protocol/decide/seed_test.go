//go:build !race

package decide

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// checks calls rapid.Check, from a seed if there is one: $RACKBOOT_TEST_SEED names where a
// check of a commit begins, so that it says what the commit did and not what the dice did.
// Others begin anywhere.
type checks struct {
	seed uint64 // 0: any
	turn chan struct{}
}

func newChecks(t *testing.T) *checks {
	t.Helper()
	c := &checks{turn: make(chan struct{}, 1)}
	if given := os.Getenv("RACKBOOT_TEST_SEED"); given != "" {
		var err error
		if c.seed, err = strconv.ParseUint(given, 10, 48); err != nil {
			t.Fatalf("RACKBOOT_TEST_SEED: %v", err)
		}
	}
	return c
}

// check is the nth of a test; others may go on beside it.
func (c *checks) check(t *testing.T, nth int, prop func(*rapid.T)) {
	t.Helper()
	if c.seed == 0 {
		rapid.Check(t, prop)
		return
	}
	c.turn <- struct{}{}
	mine := true
	done := func() {
		if mine {
			mine = false
			<-c.turn
		}
	}
	defer done()
	// rapid takes it from its flag, before it first calls.
	if err := flag.Set("rapid.seed", strconv.FormatUint(c.seed<<8+uint64(nth), 10)); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		done()
		prop(t)
	})
}
