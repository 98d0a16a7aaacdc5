package guard

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestFlowRows: each row of flows.txt names tests that are there, and that the stage of the row
// runs.
func TestFlowRows(t *testing.T) {
	page, err := os.ReadFile("internal/guard/testdata/rows/flows.txt")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	flows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 || strings.HasPrefix(line, "|---") || strings.TrimSpace(cells[2]) == "stage" {
			continue
		}
		if strings.Contains(cells[0], "**") {
			flows++
			continue
		}
		named := namedTest.FindAllStringSubmatch(cells[1], -1)
		if len(named) == 0 || len(named)*2 != strings.Count(cells[1], "`") {
			t.Errorf("%s: %s is not a list of tests", cells[0], cells[1])
		}
		for _, n := range named {
			if why := notInStage(t, string(makefile), n[1], n[2], strings.TrimSpace(cells[2])); why != "" {
				t.Errorf("%s: %s", strings.TrimSpace(cells[0]), why)
			}
		}
	}
	if flows != 5 {
		t.Errorf("%d flows", flows)
	}
}

// TestFlowRowsFail: a test that is gone, or is not run where the row says, is found.
func TestFlowRowsFail(t *testing.T) {
	const makefile = "\tgo test -tags=soak -count=1 ./integration/firmware -run='Mirror$$' -require=root\n"
	for _, row := range []struct {
		folder, test, stage string
		ok                  bool
	}{
		{"integration/firmware", "TestOVMFBootEnvMirror", "soak", true},
		{"integration/firmware", "TestOVMFBootEnvMirror", "netboot", false}, // it has the tag
		{"integration/firmware", "TestOVMF", "netboot", true},
		{"integration/firmware", "TestOVMF", "soak", false}, // no pattern names it
		{"integration/firmware", "TestOVMF", "unit", false},
		{"integration/firmware", "TestGone", "netboot", false},
		{"integration/site", "TestMoveBootEnv", "unit", true},
		{"integration/site", "TestMoveBootEnv", "netboot", false},
		{"integration/site", "TestMoveBootEnv", "nightly", false},
	} {
		if why := notInStage(t, makefile, row.folder, row.test, row.stage); (why == "") != row.ok {
			t.Errorf("%s of %s in %s: %q", row.test, row.folder, row.stage, why)
		}
	}
}

// soakRun finds the patterns of the tests of real firmware in make soak.
var soakRun = regexp.MustCompile(`-tags=soak .* \./integration/firmware -run='([^']+)'`)

// notInStage says why a stage does not run a test; empty if it does.
func notInStage(t *testing.T, makefile, folder, test, stage string) string {
	t.Helper()
	soaks, there := false, false
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(src), "\nfunc "+test+"(") {
			there, soaks = true, strings.HasPrefix(string(src), "//go:build soak\n")
		}
	}
	firmware := folder == "integration/firmware"
	switch {
	case !there:
		return "there is no " + test + " in " + folder
	case !slices.Contains([]string{"unit", "netboot", "soak"}, stage):
		return "there is no stage " + stage
	case firmware == (stage == "unit"):
		return test + " of " + folder + " is not run by " + stage
	case soaks != (stage == "soak"):
		return test + " is not run by " + stage + ", by its build tag"
	case stage != "soak":
		return ""
	}
	for _, m := range soakRun.FindAllStringSubmatch(makefile, -1) {
		if regexp.MustCompile(strings.ReplaceAll(m[1], "$$", "$")).MatchString(test) {
			return ""
		}
	}
	return "make soak runs no " + test
}
