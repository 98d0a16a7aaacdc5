package object

import (
	"testing"

	"rackboot/internal/doctable"
)

func TestFateOf(t *testing.T) {
	yesNo := []string{"yes", "no"}
	doctable.Of(t, "prune.go", "fateOf").HoldOne(t, [][]string{yesNo, yesNo, yesNo, yesNo, yesNo}, func(in []string) string {
		is := func(i int) bool { return in[i] == "yes" }
		if got := fateOf(is(0), is(1), is(2), is(3), is(4)); got != fateStays {
			return string(got)
		}
		return "stays"
	})
}
