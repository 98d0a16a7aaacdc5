package statetest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"rackboot/state"
)

// End is the name of the point after main has returned: the process dies
// there without having closed anything that main left open.
const End = "end"

// Run is what a flow gets in the child process.
type Run struct {
	// Dir is the directory of this run. It is empty at the start and is what
	// check looks at.
	Dir string
	// Crash kills the process at the point of this run.
	Crash state.Crasher
	// Ack reports a result that may not be lost from now on: one line.
	Ack func(string)
}

// Kill is what check gets in the parent after the child has died.
type Kill struct {
	Dir string
	// Point is where the child died, and Passage the how-manieth time it came
	// to that point, from 1.
	Point   string
	Passage int
	// Acked are the child's acknowledgements in order.
	Acked []string
}

// Points runs main in a child process to list the crash points it passes, then
// kills it at each passage in turn, and calls check in a subtest after each.
// main must pass the same points in the same order each time, so it does
// concurrent work only where no point is passed. A main that panics or passes
// no point fails the test.
func Points(t *testing.T, main func(Run), check func(*testing.T, Kill)) {
	t.Helper()
	if isChild(t) {
		runFlow(main)
	}
	ignore := func(*os.Process, *report) {}
	first := runChild(t, t.TempDir(), 0, ignore)
	if !first.done || len(first.points) == 0 {
		t.Fatalf("main passed %d crash points, returned: %t", len(first.points), first.done)
	}
	passages := map[string]int{}
	for i, point := range append(first.points, End) {
		passages[point]++
		k := Kill{Dir: t.TempDir(), Point: point, Passage: passages[point]}
		rep := runChild(t, k.Dir, i+1, ignore)
		if point == End {
			if !rep.done {
				t.Fatalf("main died at %v, passed before: %v", rep.points, first.points)
			}
		} else if len(rep.points) != i+1 || rep.points[i] != point {
			t.Fatalf("main is not deterministic: passage %d was %s, but then the points were %v", i+1, point, rep.points)
		}
		k.Acked = rep.acked
		t.Run(fmt.Sprintf("%s#%d", point, k.Passage), func(t *testing.T) { check(t, k) })
	}
}

// runFlow is the child's side; it does not return.
func runFlow(main func(Run)) {
	at, number, named := strings.Cut(os.Getenv(envKill), "#")
	if !named {
		number = at
	}
	kill, err := strconv.Atoi(number)
	if err != nil {
		panic(err)
	}
	p := openPipe()
	var mu sync.Mutex
	passed := 0
	main(Run{
		Dir: os.Getenv(envDir),
		Crash: func(point string) {
			mu.Lock()
			defer mu.Unlock()
			if !named || point == at {
				passed++
			}
			p.line(linePoint, point)
			if passed == kill {
				die()
			}
		},
		Ack: func(s string) { p.line(lineAck, s) },
	})
	p.line(lineDone, "")
	die()
}
