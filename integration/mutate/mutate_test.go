package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The lists fit the tree: each edit applies, and each word of its tests begins the
// name of a test of that package.
func TestLists(t *testing.T) {
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, least := range map[string]int{"driver.txt": 40, "sim.txt": 40, "decide.txt": 12} {
		list, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		edits, err := parse(string(list))
		if err != nil {
			t.Fatal(err)
		}
		if len(edits) < least {
			t.Errorf("%s has %d edits", name, len(edits))
		}
		what := map[string]bool{}
		for _, e := range edits {
			if what[e.what] {
				t.Errorf("%s: %q is there twice", name, e.what)
			}
			what[e.what] = true
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.apply(string(text)); err != nil {
				t.Error(err)
			}
			tests := testsOf(t, filepath.Join(root, filepath.FromSlash(path.Dir(e.file))))
			for word := range strings.SplitSeq(e.tests, "|Test") {
				top, _, _ := strings.Cut(strings.TrimPrefix(word, "Test"), "/")
				if !strings.Contains(tests, "\nfunc Test"+top+"(") {
					t.Errorf("%s: there is no Test%s in %s", e.what, top, path.Dir(e.file))
				}
			}
		}
	}
}

func testsOf(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

func TestParse(t *testing.T) {
	edits, err := parse("# words\n\nwhat | a/b.go | TestA|TestB\n- old\n- \ttwo\n+ new\n\n\nmore | c.go | TestC\n- x\n+ \n")
	want := edit{what: "what", file: "a/b.go", tests: "TestA|TestB", old: "old\n\ttwo", new: "new"}
	if err != nil || len(edits) != 2 || edits[0] != want || edits[1].new != "" {
		t.Errorf("%+v, %v", edits, err)
	}
	for list, says := range map[string]string{
		"what a/b.go\n- x\n+ y":          "what | file | tests",
		"what | b.go | T\n- x\n+ x":      "lacks",
		"what | b.go | T\n+ x":           "lacks",
		"what | b.go | T\n- x":           "lacks",
		"what | b.go | T\n- x\n+ y\nz":   "no line of a block",
		"- x\n+ y":                       "lacks",
		"what | b.go | T\n- x\n\n- y\n+": "lacks",
	} {
		if _, err := parse(list); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", list, err)
		}
	}
}

func TestApply(t *testing.T) {
	e := edit{what: "w", old: "a", new: "b"}
	if got, err := e.apply("xay"); err != nil || got != "xby" {
		t.Errorf("%q, %v", got, err)
	}
	for _, text := range []string{"", "aa"} {
		if _, err := e.apply(text); err == nil {
			t.Errorf("applied to %q", text)
		}
	}
}

// What go test says is read as it is: a build that fails notices nothing.
func TestJudge(t *testing.T) {
	failed := os.ErrInvalid
	for _, c := range []struct {
		ended error
		out   string
		err   error
		want  verdict
	}{
		{nil, "--- FAIL: TestA\nFAIL", failed, killed},
		{nil, "panic: test timed out after 1m0s", failed, killed},
		{nil, "ok  \tp\t0.1s", nil, survived},
		{nil, "ok  \tp\t0.1s [no tests to run]", nil, broken},
		{nil, "FAIL\tp [build failed]", failed, broken},
		{nil, "FAIL\tp [setup failed]", failed, broken},
		{nil, "go: no go.mod", failed, broken},
		{failed, "--- FAIL: TestA", failed, broken},
	} {
		if got := judge(c.ended, c.out, c.err); got.verdict != c.want {
			t.Errorf("%q is %s, want %s", c.out, got.verdict, c.want)
		}
	}
}

// One edit for real.
func TestTry(t *testing.T) {
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e := edit{what: "survives", file: "integration/mutate/edit.go", tests: "^TestApply$", old: `return "    " +`, new: `return "  " +`}
	if r := e.try(t.Context(), root, t.TempDir()); r.verdict != survived {
		t.Errorf("%+v", r)
	}
	e = edit{what: "is noticed", file: "integration/mutate/edit.go", tests: "^TestApply$", old: "n != 1 {", new: "n == 0 {"}
	if r := e.try(t.Context(), root, t.TempDir()); r.verdict != killed {
		t.Errorf("%+v", r)
	}
}

func TestOnly(t *testing.T) {
	edits := []edit{{what: "a", file: "x.go"}, {what: "b", file: "y.go"}}
	if got := matching(edits, "y.go"); len(got) != 1 || got[0].what != "b" {
		t.Errorf("%+v", got)
	}
	if !regexp.MustCompile(`^    a\n    b\n$`).MatchString(indent("a\nb\n")) || indent(" ") != "" {
		t.Error("indent")
	}
}

// A package that fails without an edit says so, and nothing is tried.
func TestPass(t *testing.T) {
	root, err := moduleRoot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := pass(t.Context(), root, []edit{{file: "integration/nowhere/a.go"}}); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("%v", err)
	}
}
