package rack

import (
	"maps"
	"slices"
	"sync"
	"testing"
)

// besides is how many tests run beside each other: they wait more than they work,
// so that they need not wait for processors as t.Parallel would make them.
const besides = 6

// beside runs tests as subtests, several at a time, and returns when all are over.
func beside(t *testing.T, tests map[string]func(*testing.T)) {
	t.Helper()
	names := make(chan string)
	var all sync.WaitGroup
	for range besides {
		all.Go(func() {
			for name := range names {
				t.Run(name, tests[name])
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		names <- name
	}
	close(names)
	all.Wait()
}
