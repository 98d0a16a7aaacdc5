package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"rackboot/integration/storm/judge"
)

// testdata/rows.txt names each fault with what it damages, each promise, and what is known to
// break.
func TestPage(t *testing.T) {
	raw, err := os.ReadFile("testdata/rows.txt")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	for _, f := range slices.Concat(faults(), hubFaults()) {
		if row := fmt.Sprintf("| `%s` | %s |", f.name, f.damages); !strings.Contains(page, row) {
			t.Errorf("no row %s", row)
		}
	}
	for _, p := range judge.PromisesOf(2) {
		if !strings.Contains(page, fmt.Sprintf("| `%s` |", p)) {
			t.Errorf("no row for %s", p)
		}
	}
	for _, m := range marks() {
		found := false
		for line := range strings.Lines(page) {
			cells := strings.Split(line, "|")
			found = found || len(cells) > 3 && strings.Contains(cells[1], fmt.Sprintf("`%s`", m.promise)) && strings.TrimSpace(cells[2]) == fmt.Sprintf("`%s`", m.fault)
		}
		if !found {
			t.Errorf("%s under %s is known to break, and the page does not say so", m.promise, m.fault)
		}
	}
}
