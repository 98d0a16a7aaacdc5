package guard

import (
	"path"
	"regexp"
	"testing"
)

// The module builds from what it names, for everybody the same.
func TestGoMod(t *testing.T) {
	for p, text := range files(t, func(p string) bool { return path.Base(p) == "go.mod" }) {
		report(t, goModProblems(p, text))
	}
}

// goModProblems returns what a go.mod may not say, or must.
func goModProblems(p string, text []byte) []string {
	var problems []string
	if !regexp.MustCompile(`(?m)^go 1\.\d+\.\d+$`).Match(text) {
		problems = append(problems, p+": no go directive with a full version")
	}
	for _, directive := range []string{"replace", "exclude", "toolchain"} {
		if regexp.MustCompile(`(?m)^` + directive + `\b`).Match(text) {
			problems = append(problems, p+": a "+directive+" directive; `go install` of others ignores or refuses it")
		}
	}
	if p == "go.mod" && regexp.MustCompile(`(?m)^tool\b`).Match(text) {
		problems = append(problems, p+": a tool directive; tools are pinned in tools/go.mod")
	}
	return problems
}

func TestGoModCanFail(t *testing.T) {
	for _, c := range []struct{ path, text, want string }{
		{"go.mod", "module x\n\ngo 1.26.0\n", ""},
		{"tools/go.mod", "module x\n\ngo 1.26.0\n\ntool x/y\n", ""},
		{"go.mod", "module x\n", "no go directive"},
		{"go.mod", "go 1.26.0\nreplace a => ../a\n", "replace"},
		{"go.mod", "go 1.26.0\nreplace (\n\ta => ../a\n)\n", "replace"},
		{"go.mod", "go 1.26.0\ntool x/y\n", "tool directive"},
		{"go.mod", "go 1.26.0\ntoolchain go1.26.8\n", "toolchain"},
	} {
		expect(t, goModProblems(c.path, []byte(c.text)), c.want)
	}
}
