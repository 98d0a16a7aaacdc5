package guard

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var namedTest = regexp.MustCompile("`([a-z0-9/]+)\\.(Test[A-Za-z0-9]+)`")

// TestBootClientRows: every test that the table of boot clients names exists, and every
// row names one or says why there is none.
func TestBootClientRows(t *testing.T) {
	page, err := os.ReadFile("internal/guard/testdata/rows/bootclients.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 2 || strings.HasPrefix(line, "|---") || strings.Contains(cells[0], "**") || strings.TrimSpace(cells[1]) == "tests" {
			continue
		}
		rows++
		named := namedTest.FindAllStringSubmatch(cells[1], -1)
		if len(named) == 0 && !strings.Contains(cells[1], "none: ") {
			t.Errorf("%s: names no test", cells[0])
		}
		if len(named)*2 != strings.Count(cells[1], "`") {
			t.Errorf("%s: %s is not a list of tests", cells[0], cells[1])
		}
		for _, n := range named {
			if !hasTest(t, folderOf(n[1]), n[2]) {
				t.Errorf("%s: there is no %s in %s", cells[0], n[2], folderOf(n[1]))
			}
		}
	}
	if rows < 50 {
		t.Errorf("%d rows", rows)
	}
}

// folderOf is where a package of the table is: below netboot, unless it has a slash or
// is named so itself.
func folderOf(name string) string {
	switch {
	case strings.Contains(name, "/"), name == "agent", name == "protocol", name == "netboot":
		return name
	}
	return "netboot/" + name
}

func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(src), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}

// TestBootPolicyRows: every test that the tables of boot policies name exists, every row
// names one or says why there is none, and no number is missing.
func TestBootPolicyRows(t *testing.T) {
	page, err := os.ReadFile("internal/guard/testdata/rows/bootpolicy.txt")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(page), "\n### ")
	if len(parts) != 4 {
		t.Fatalf("%d tables", len(parts)-1)
	}
	for i, want := range []map[string]int{
		{"": 38},
		{"": 7},
		{"P": 3, "D": 7, "T": 3, "V": 4, "S": 2, "F": 8, "E": 4, "R": 4, "I": 6, "C": 6, "N": 5, "B": 4, "X": 2},
	} {
		last := map[string]int{}
		for _, m := range policyRow.FindAllStringSubmatch(parts[i+1], -1) {
			letter, number, kind, tests := m[1], m[2], m[3], m[5]
			n, err := strconv.Atoi(number)
			if err != nil {
				t.Fatal(err)
			}
			if next := last[letter] + 1; n != next && kind != "b" {
				t.Errorf("%s%d comes where %s%d should", letter, n, letter, next)
			}
			last[letter] = n
			named := namedTest.FindAllStringSubmatch(tests, -1)
			if len(named) == 0 && !strings.HasPrefix(tests, "none: ") {
				t.Errorf("%s%s%s names no test", letter, number, kind)
			}
			if len(named)*2 != strings.Count(tests, "`") {
				t.Errorf("%s%s%s: %s is not a list of tests", letter, number, kind, tests)
			}
			for _, n := range named {
				if !hasTest(t, n[1], n[2]) {
					t.Errorf("%s%s%s: there is no %s in %s", letter, number, kind, n[2], n[1])
				}
			}
		}
		if !maps.Equal(last, want) {
			t.Errorf("table %d ends with %v, want %v", i+1, last, want)
		}
	}
}

var policyRow = regexp.MustCompile(`(?m)^\| ([A-Z]?)(\d+)(b| F|) \| (.+) \| (.+) \|$`)
