package guard

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestBootEnvRows: every test that the tables of boot environments name exists, every row
// names one or says why there is none, and no number is missing.
func TestBootEnvRows(t *testing.T) {
	section, err := os.ReadFile("internal/guard/testdata/rows/bootenv.txt")
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([SD])(\d+) \| (.+) \| (.+) \|$`).FindAllStringSubmatch(string(section), -1) {
		letter, row, tests := m[1], m[1]+m[2], m[4]
		if n, err := strconv.Atoi(m[2]); err != nil || n != last[letter]+1 {
			t.Errorf("%s comes after %s%d", row, letter, last[letter])
		}
		last[letter]++
		named := regexp.MustCompile("`([a-z0-9/]*)\\.(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(tests, -1)
		if len(named) == 0 && !strings.HasPrefix(tests, "none: ") {
			t.Errorf("%s names no test", row)
		}
		if len(named)*2 != strings.Count(tests, "`") {
			t.Errorf("%s: %s is not a list of tests", row, tests)
		}
		for _, n := range named {
			if !hasTest(t, "./"+n[1], n[2]) {
				t.Errorf("%s: there is no %s in %q", row, n[2], n[1])
			}
		}
	}
	if last["S"] != 36 || last["D"] != 43 {
		t.Errorf("the tables end with %v", last)
	}
}
