package guard

import (
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	managedRow  = regexp.MustCompile(`(?m)^\| ([A-Z]?)(\d+)(?: [FB]+)? \| (.+) \| (.+) \|$`)
	managedTest = regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz)[A-Za-z0-9]+)`")
)

// TestManagedImageRows: every test that the tables of managed boot images name exists,
// every row names one or says why there is none, and no number is missing.
func TestManagedImageRows(t *testing.T) {
	for _, table := range []struct {
		file string
		ends map[string]int
	}{
		{"internal/guard/testdata/rows/managedimages.txt", map[string]int{"": 23}},
		{
			"internal/guard/testdata/rows/managedimages-enhancement.txt",
			map[string]int{"S": 8, "G": 3, "P": 11, "D": 4, "R": 4, "O": 4, "K": 4, "V": 4, "X": 7},
		},
	} {
		page, err := os.ReadFile(table.file)
		if err != nil {
			t.Fatal(err)
		}
		last := map[string]int{}
		for _, m := range managedRow.FindAllStringSubmatch(string(page), -1) {
			letter, row, tests := m[1], m[1]+m[2], m[4]
			if n, err := strconv.Atoi(m[2]); err != nil || n != last[letter]+1 {
				t.Errorf("%s: %s comes after %s%d", table.file, row, letter, last[letter])
			}
			last[letter]++
			named := managedTest.FindAllStringSubmatch(tests, -1)
			if len(named) == 0 && !strings.HasPrefix(tests, "none: ") {
				t.Errorf("%s: %s names no test", table.file, row)
			}
			if !strings.HasPrefix(tests, "none: ") && len(named)*2 != strings.Count(tests, "`") {
				t.Errorf("%s: %s: %s is not a list of tests", table.file, row, tests)
			}
			for _, n := range named {
				if !hasTest(t, n[1], n[2]) {
					t.Errorf("%s: %s: there is no %s in %s", table.file, row, n[2], n[1])
				}
			}
		}
		if !maps.Equal(last, table.ends) {
			t.Errorf("%s ends with %v, want %v", table.file, last, table.ends)
		}
	}
}
