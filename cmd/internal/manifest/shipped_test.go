package manifest

import (
	"os"
	"path/filepath"
	"testing"
)

// TestShippedEnvironments: rackctl apply takes each file of configs/bootenvs by itself.
func TestShippedEnvironments(t *testing.T) {
	paths, err := filepath.Glob("../../../configs/bootenvs/*.yaml")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		set, err := Parse([]Source{{filepath.Base(p), raw}})
		if err != nil {
			t.Error(err)
			continue
		}
		if len(set.Objects()) == 0 {
			t.Errorf("%s has nothing", p)
		}
	}
}
