package daemon

import (
	"runtime/debug"
	"time"
)

// builtAt is the time of the commit that this program was built from; zero where the build
// does not say it, as in tests.
func builtAt() time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return time.Time{}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			if at, err := time.Parse(time.RFC3339, s.Value); err == nil {
				return at
			}
		}
	}
	return time.Time{}
}
