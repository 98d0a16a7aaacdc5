package guard

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestRebootHoldRows: every test and every vector that the tables of reboot holds name exists, every row
// names a test, and no number is missing.
func TestRebootHoldRows(t *testing.T) {
	section, err := os.ReadFile("internal/guard/testdata/rows/rebootholds.txt")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("integration/holds/testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of vectors, %v", len(files), err)
	}
	var vectors strings.Builder
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		vectors.Write(raw)
	}
	last := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([SR])(\d+) \| (.+) \| (.+) \|$`).FindAllStringSubmatch(string(section), -1) {
		letter, row, said, tests := m[1], m[1]+m[2], m[3], m[4]
		if n, err := strconv.Atoi(m[2]); err != nil || n != last[letter]+1 {
			t.Errorf("%s comes after %s%d", row, letter, last[letter])
		}
		last[letter]++
		if in := regexp.MustCompile(`\(([A-Z0-9a-z, ]+)\)$`).FindStringSubmatch(said); in != nil {
			for v := range strings.SplitSeq(in[1], ", ") {
				if !strings.Contains(vectors.String(), "- id: "+v+"\n") {
					t.Errorf("%s: there is no vector %s", row, v)
				}
			}
		}
		named := regexp.MustCompile("`([a-z0-9/]*)\\.(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(tests, -1)
		if len(named) == 0 || len(named)*2 != strings.Count(tests, "`") {
			t.Errorf("%s: %s is not a list of tests", row, tests)
		}
		for _, n := range named {
			if !hasTest(t, "./"+n[1], n[2]) {
				t.Errorf("%s: there is no %s in %q", row, n[2], n[1])
			}
		}
	}
	if last["S"] != 24 || last["R"] != 10 {
		t.Errorf("%d sentences of the design and %d of the guide", last["S"], last["R"])
	}
}
