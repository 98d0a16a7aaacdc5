package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestShippedEnvironments: rackctl apply takes each file of configs/bootenvs by itself.
func TestShippedEnvironments(t *testing.T) {
	paths, err := filepath.Glob("../../../configs/bootenvs/*.yaml")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	var all []Source
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Source{filepath.Base(p), raw})
		set, err := Parse([]Source{{filepath.Base(p), raw}})
		if err != nil {
			t.Error(err)
			continue
		}
		if len(set.Objects()) == 0 {
			t.Errorf("%s has nothing", p)
		}
	}
	// And the folder as a whole: rackctl apply -f configs/bootenvs/.
	if _, err := Parse(all); err != nil {
		t.Error(err)
	}
}

// TestGivenTwice: what two files have alike counts once, and what they have differently is
// named with both places.
func TestGivenTwice(t *testing.T) {
	param := func(description string) []byte {
		return []byte("apiVersion: rackboot/v1\nkind: Param\nmetadata: {name: a}\nspec: {name: a/b, schema: {type: string, description: " + description + "}}\n")
	}
	set, err := Parse([]Source{{"one.yaml", param("same")}, {"two.yaml", append([]byte("# a comment\n"), param("same")...)}})
	if err != nil || len(set.Objects()) != 1 {
		t.Fatalf("%v, %v", set, err)
	}
	_, err = Parse([]Source{{"one.yaml", param("same")}, {"two.yaml", param("other")}})
	if err == nil || !strings.Contains(err.Error(), `two.yaml:3: metadata.name: Param "a" is given twice, first in one.yaml:3`) {
		t.Error(err)
	}
}
