package guard

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestFailuresPage: each row of docs/reference/failures.md is a row of
// internal/guard/testdata/rows/failures.txt, with the tests that show what it says, and no row
// there is without one on the page.
func TestFailuresPage(t *testing.T) {
	page, err := os.ReadFile("docs/reference/failures.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := os.ReadFile("internal/guard/testdata/rows/failures.txt")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, section := range []string{"Hub", "Agent", "BMC", "Servers"} {
		said := map[string]bool{}
		rowsOf(t, string(page), "## "+section, func(cells []string) { said[strings.TrimSpace(cells[0])] = true })
		shown := failureRows(t, string(rows), section)
		for event := range said {
			total++
			if shown[event] == "" {
				t.Errorf("%s: no test shows %q", section, event)
			}
		}
		for event, tests := range shown {
			if !said[event] {
				t.Errorf("%s: the page has no row %q", section, event)
			}
			named := namedTest.FindAllStringSubmatch(tests, -1)
			if len(named) == 0 || len(named)*2 != strings.Count(tests, "`") {
				t.Errorf("%s, %s: %s is not a list of tests", section, event, tests)
			}
			for _, n := range named {
				if !hasTest(t, n[1], n[2]) {
					t.Errorf("%s, %s: there is no %s in %s", section, event, n[2], n[1])
				}
			}
		}
	}
	if total < 29 {
		t.Errorf("%d rows", total)
	}
}

// failureRows are the rows below a section's name: what happens, and the tests.
func failureRows(t *testing.T, rows, section string) map[string]string {
	t.Helper()
	_, below, ok := strings.Cut(rows, "\n"+section+"\n")
	if !ok {
		t.Fatalf("there is no section %s", section)
	}
	out := map[string]string{}
	for line := range strings.Lines(strings.TrimLeft(below, "\n")) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 2 || cells[0] == "event" {
			continue
		}
		out[cells[0]] = cells[1]
	}
	if len(out) == 0 {
		t.Fatalf("section %s has no rows, only %v", section, slices.Collect(maps.Keys(out)))
	}
	return out
}
