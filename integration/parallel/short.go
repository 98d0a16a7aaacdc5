package parallel

import (
	"os"
	"testing"
)

// shortVariable has tests take fewer steps where they are long. -short does too, and more: it
// has rapid draw a fifth, upon which properties that count what they saw fail by chance.
const shortVariable = "RACKBOOT_TEST_SHORT"

// Short reports whether a test is to try less.
func Short() bool { return testing.Short() || os.Getenv(shortVariable) != "" }
