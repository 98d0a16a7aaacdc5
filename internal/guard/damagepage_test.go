package guard

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestDamageRows: every test that the table of damages names exists, every row names one,
// and no number is missing.
func TestDamageRows(t *testing.T) {
	page, err := os.ReadFile("internal/guard/testdata/rows/damage.txt")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| (\d+) \| .+ \| (.+) \|$`)
	rows := row.FindAllStringSubmatch(string(page), -1)
	for i, m := range rows {
		if m[1] != strconv.Itoa(i+1) {
			t.Errorf("row %s stands at %d", m[1], i+1)
		}
		named := namedTest.FindAllStringSubmatch(m[2], -1)
		if len(named) == 0 || len(named)*2 != strings.Count(m[2], "`") {
			t.Errorf("row %s: %s is not a list of tests", m[1], m[2])
		}
		for _, n := range named {
			if !hasTest(t, n[1], n[2]) {
				t.Errorf("row %s: there is no %s in %s", m[1], n[2], n[1])
			}
		}
	}
	if len(rows) < 21 {
		t.Errorf("%d rows", len(rows))
	}
}
