package agent

import (
	"os"
	"runtime/debug"
)

// garbage is how much of what is in use may be garbage before it is collected, in percent. An
// agent reads hundreds of BMCs and does little else: collections are cheap, and the stacks of
// waiting connections shrink with them (docs/BENCHMARKS.md).
const garbage = 25

// saveMemory has garbage collected sooner than Go does by itself, unless the environment says
// how soon.
func saveMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}
