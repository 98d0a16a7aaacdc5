package guard

import (
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestFalseSentences: every test that the table of false sentences names exists, every row
// names one, no number is missing, and no sentence is back.
func TestFalseSentences(t *testing.T) {
	page, err := os.ReadFile("internal/guard/testdata/rows/falsesentences.txt")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| (\d+) \| ([^|]+) \| [^|]+ \| ([^|]+) \|$`)
	rows := row.FindAllStringSubmatch(string(page), -1)
	var said []string
	for i, m := range rows {
		if m[1] != strconv.Itoa(i+1) {
			t.Errorf("row %s stands at %d", m[1], i+1)
		}
		named := namedTest.FindAllStringSubmatch(m[3], -1)
		if len(named) == 0 || len(named)*2 != strings.Count(m[3], "`") {
			t.Errorf("row %s: %s is not a list of tests", m[1], m[3])
		}
		for _, n := range named {
			if !hasTest(t, n[1], n[2]) {
				t.Errorf("row %s: there is no %s in %s", m[1], n[2], n[1])
			}
		}
		if sentence, ok := strings.CutPrefix(m[2], `"`); ok {
			said = append(said, strings.TrimSuffix(sentence, `"`))
		}
	}
	if len(rows) < 7 || len(said) < 4 {
		t.Errorf("%d rows, %d sentences", len(rows), len(said))
	}
	for p, text := range files(t, isPage) {
		report(t, saidAgain(p, string(text), said))
	}
}

func isPage(p string) bool { return path.Ext(p) == ".md" || strings.HasPrefix(p, "configs/") }

// saidAgain are the false sentences that a page has, also over the end of a line.
func saidAgain(p, text string, said []string) (problems []string) {
	text = strings.Join(strings.Fields(text), " ")
	for _, s := range said {
		if strings.Contains(text, s) {
			problems = append(problems, p+": says again: "+s)
		}
	}
	return problems
}

func TestFalseSentencesCanFail(t *testing.T) {
	expect(t, saidAgain("x.md", "There is more, and\n  reads no boot order\nyet and", []string{"reads no boot order yet"}), "says again")
	expect(t, saidAgain("x.md", "reads the boot order", []string{"reads no boot order yet"}), "")
}
