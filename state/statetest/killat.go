package statetest

import (
	"fmt"
	"os"
	"slices"
	"testing"
)

// Child is a flow that can be run in a child process again and again.
type Child struct{ name string }

// NewChild names the flow of the calling test. In the child process it runs main
// and does not return, so a test calls it first, before it sets anything up.
func NewChild(t *testing.T, main func(Run)) Child {
	t.Helper()
	if isChild(t) {
		runFlow(main)
	}
	return Child{t.Name()}
}

// Death is how a child ended.
type Death struct {
	// Points are the crash points that it passed, in order.
	Points []string
	Acked  []string
	// Done says that main returned; the process died then.
	Done bool
}

// KillAt runs the flow on dir and kills it with SIGKILL when it passes the named
// point for the n-th time. n is from 1; a flow that does not pass it as often runs
// to its end, and Death.Done says so. Other points may come in any order and
// number. acked is called with each acknowledgement when it arrives; it may be nil.
func (c Child) KillAt(t *testing.T, dir, point string, n int, acked func(string)) Death {
	t.Helper()
	told := 0
	r := runNamed(t, c.name, dir, fmt.Sprintf("%s#%d", point, n), func(_ *os.Process, r *report) {
		for ; told < len(r.acked); told++ {
			if acked != nil {
				acked(r.acked[told])
			}
		}
	})
	if last := len(r.points) - 1; !r.done && (last < 0 || r.points[last] != point) {
		t.Fatalf("killed at %v, wanted passage %d of %s", r.points, n, point)
	}
	return Death{Points: slices.Clone(r.points), Acked: slices.Clone(r.acked), Done: r.done}
}
