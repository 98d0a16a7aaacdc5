package guard

import (
	"fmt"
	"os"
	"testing"
)

// TestMain runs the tests at the root of the module, which they name files from.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(m.Run())
}
