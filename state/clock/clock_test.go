//go:build !storm

package clock

import (
	"go/build"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// What can step the clock is in no program that is built as they are released: neither
// the file, nor what it does.
func TestProductionCannotBeStepped(t *testing.T) {
	for _, c := range []struct {
		tags []string
		want []string
	}{
		{nil, []string{"clock.go", "doc.go"}},
		{[]string{"storm"}, []string{"doc.go", "step.go"}},
	} {
		ctx := build.Default
		ctx.BuildTags = c.tags
		p, err := ctx.ImportDir(".", 0)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.GoFiles, c.want) {
			t.Errorf("with tags %v it is made of %v, want %v", c.tags, p.GoFiles, c.want)
		}
	}
	t.Setenv("RACKBOOT_STORM_CLOCK", filepath.Join("testdata", "hour"))
	if off := time.Until(Now()).Abs(); off > time.Minute {
		t.Errorf("the clock is off by %s", off)
	}
}
