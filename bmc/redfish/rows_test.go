package redfish_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rackboot/bmc/sim"
)

// row is a behaviour of BMCs that is known, see testdata/rows.txt.
type row struct {
	topic, what, reason string
	presets, tests      []string
}

func parseRow(line string) (row, bool) {
	f := strings.Split(line, " | ")
	if len(f) == 4 {
		f = append(f, "")
	}
	if len(f) != 5 {
		return row{}, false
	}
	return row{topic: f[0], what: f[1], presets: listOf(f[2]), tests: listOf(f[3]), reason: f[4]}, true
}

// listOf splits at commas before a name: a row's own may have commas.
func listOf(s string) []string {
	if s == "-" {
		return nil
	}
	var out []string
	for part := range strings.SplitSeq(s, ", ") {
		if len(out) > 0 && strings.Contains(out[len(out)-1], "/") && !strings.Contains(part, "Test") {
			out[len(out)-1] += ", " + part
			continue
		}
		out = append(out, part)
	}
	return out
}

// Every behaviour that is known has a preset that shows it and a test that
// handles it, or a reason; and every preset is in a row.
func TestRows(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "rows.txt"))
	if err != nil {
		t.Fatal(err)
	}
	used, seen, rows := map[string]bool{}, map[string]bool{}, 0
	folders := map[string]map[string]*ast.FuncDecl{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		r, ok := parseRow(line)
		if !ok || r.topic == "" || r.what == "" || seen[r.what] {
			t.Errorf("no row, or there twice: %s", line)
			continue
		}
		seen[r.what] = true
		rows++
		if (len(r.presets) == 0 || len(r.tests) == 0) && r.reason == "" {
			t.Errorf("%s: no preset or no test, and no reason", r.what)
		}
		for _, name := range r.presets {
			used[name] = true
			if _, ok := sim.Preset(name); !ok {
				t.Errorf("%s: there is no preset %s", r.what, name)
			}
		}
		for _, name := range r.tests {
			folder, test, other := strings.Cut(name, ":")
			if !other {
				folder, test = "bmc/redfish", name
			}
			if folders[folder] == nil {
				folders[folder] = testsIn(t, filepath.Join("..", "..", filepath.FromSlash(folder)))
			}
			test, sub, _ := strings.Cut(test, "/")
			switch f := folders[folder][test]; {
			case f == nil:
				t.Errorf("%s: there is no %s in %s", r.what, test, folder)
			case sub != "" && !names(f, sub):
				t.Errorf("%s: %s has no row %q", r.what, test, sub)
			}
		}
	}
	for _, p := range sim.Presets() {
		if !used[p.Name] {
			t.Errorf("preset %s is in no row", p.Name)
		}
	}
	t.Logf("%d rows, %d presets", rows, len(used))
}

// testsIn are the test functions of a folder.
func testsIn(t *testing.T, folder string) map[string]*ast.FuncDecl {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]*ast.FuncDecl{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				tests[f.Name.Name] = f
			}
		}
	}
	return tests
}

// names says whether a test has a row of that name: a string in it, or a
// personality that it makes by its function or among all of them.
func names(f *ast.FuncDecl, row string) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			s, err := strconv.Unquote(n.Value)
			found = found || err == nil && n.Kind == token.STRING && s == row
		case *ast.SelectorExpr:
			found = found || n.Sel.Name == row || n.Sel.Name == "Personalities" && slices.ContainsFunc(sim.Personalities(), func(p sim.Personality) bool { return p.Name == row })
		}
		return true
	})
	return found
}

func TestRowsCanFail(t *testing.T) {
	tests := testsIn(t, ".")
	for row, want := range map[string]bool{"Mode": true, "Enabled, to arm": true, "Nobody": false} {
		if names(tests["TestPropertiesAreLeftOut"], row) != want {
			t.Errorf("%q is not %v", row, want)
		}
	}
	if !names(tests["TestConformance"], "Baseboard") || names(tests["TestConformance"], "DellModeJob") {
		t.Error("personalities are not told apart")
	}
	got, ok := parseRow("a | b (c, d) | P, Q | TestA/x, y, pkg:TestB | why")
	if !ok || !slices.Equal(got.presets, []string{"P", "Q"}) || !slices.Equal(got.tests, []string{"TestA/x, y", "pkg:TestB"}) || got.reason != "why" {
		t.Errorf("%+v", got)
	}
	if _, ok := parseRow("a | b | c"); ok {
		t.Error("three fields are a row")
	}
}
