package fleet

import "time"

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// never is longer than any wait.
const never = time.Hour
