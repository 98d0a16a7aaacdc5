package guard

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rackboot/protocol/resource"
)

var (
	securityTest   = regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz)[A-Za-z0-9]+)`")
	securityMetric = regexp.MustCompile("`(rackboot_[a-z0-9_]+)`")
	// A condition is a word with a capital letter inside it, or alone between commas.
	securityWord = regexp.MustCompile(`\b[A-Z][a-z0-9]*[A-Z][A-Za-z]*\b`)
)

// TestSecurityPage: docs/SECURITY.md names metrics and conditions that are there, and
// internal/guard/testdata/rows/security.txt a test for every attacker, and every listener, of the page.
func TestSecurityPage(t *testing.T) {
	raw, err := os.ReadFile("docs/SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	rows, err := os.ReadFile("internal/guard/testdata/rows/security.txt")
	if err != nil {
		t.Fatal(err)
	}
	played := map[string]string{}
	for line := range strings.Lines(string(rows)) {
		if who, tests, ok := strings.Cut(strings.Trim(strings.TrimSpace(line), "| "), " | "); ok {
			played[who] = tests
		}
	}
	for _, n := range securityTest.FindAllStringSubmatch(page+string(rows), -1) {
		if !hasTest(t, n[1], n[2]) {
			t.Errorf("there is no %s in %s", n[2], n[1])
		}
	}
	list, err := os.ReadFile("docs/METRICS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range securityMetric.FindAllStringSubmatch(page, -1) {
		if !strings.Contains(string(list), "| `"+n[1]+"` |") {
			t.Errorf("there is no metric %s", n[1])
		}
	}
	if n := rowsOf(t, page, "## Who can do what", func(cells []string) {
		if len(cells) != 4 {
			t.Fatalf("%s: %d cells", cells[0], len(cells))
		}
		if !securityTest.MatchString(played[strings.TrimSpace(cells[0])]) {
			t.Errorf("%s: no test plays it", cells[0])
		}
		for _, word := range securityWord.FindAllString(cells[3], -1) {
			if _, ok := resource.LookupCondition(resource.ConditionCode(word)); !ok && !slices.Contains([]string{"API", "BMC"}, word) {
				t.Errorf("%s: there is no condition %s", cells[0], word)
			}
		}
		for i, c := range cells {
			if strings.TrimSpace(c) == "" {
				t.Errorf("%s: cell %d is empty", cells[0], i+1)
			}
		}
	}); n < 20 {
		t.Errorf("%d attackers", n)
	}
	levels := []string{"`secrets: segment`", "`secrets: bmc`", "`reported`", "`observed`"}
	if n := rowsOf(t, page, "## What each gets at each level", func(cells []string) {
		if len(cells) != 1+len(levels) {
			t.Fatalf("%s: %d cells", cells[0], len(cells))
		}
		for i, level := range levels {
			who := strings.TrimSpace(cells[0]) + ", " + level
			if strings.TrimSpace(cells[i+1]) == "" || !securityTest.MatchString(played[who]) {
				t.Errorf("%s: the cell is empty, or no test shows it", who)
			}
		}
	}); n < 6 {
		t.Errorf("%d attackers at each level", n)
	}
	if n := rowsOf(t, page, "## Listeners", func(cells []string) {
		if played[strings.TrimSpace(cells[0])] == "" {
			t.Errorf("%s: no test plays it", cells[0])
		}
	}); n != 8 {
		t.Errorf("%d listeners", n)
	}
}

// rowsOf calls do with each row of the first table below a heading but its head.
func rowsOf(t *testing.T, page, heading string, do func(cells []string)) (n int) {
	t.Helper()
	_, section, ok := strings.Cut(page, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("there is no %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			continue
		}
		if n++; n > 2 {
			do(strings.Split(strings.Trim(line, "|"), "|"))
		}
	}
	return n - 2
}
