package guard

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// longest is the most lines that a Go file may have, tests included.
const longest = 500

// A file holds one noun or one handler and is named for it.
func TestFiles(t *testing.T) {
	var lines []int
	for p, text := range files(t, isGo) {
		report(t, fileProblems(p, text))
		lines = append(lines, bytes.Count(text, []byte("\n")))
	}
	slices.Sort(lines)
	t.Logf("%d Go files, median %d lines, longest %d", len(lines), lines[len(lines)/2], lines[len(lines)-1])
}

// fileProblems returns what is wrong with a Go file's length or name.
func fileProblems(p string, text []byte) []string {
	var problems []string
	if n := bytes.Count(text, []byte("\n")); n > longest {
		problems = append(problems, fmt.Sprintf("%s: %d lines, at most %d; split it by noun", p, n, longest))
	}
	if regexp.MustCompile(`^(util|common|helper|misc|types\.go$|types_test\.go$)`).MatchString(path.Base(p)) {
		problems = append(problems, p+": name the file for the noun it holds")
	}
	return problems
}

func TestFilesCanFail(t *testing.T) {
	long := strings.Repeat("\n", longest)
	for _, c := range []struct{ path, text, want string }{
		{"x/hold.go", long, ""},
		{"x/hold.go", long + "\n", "501 lines"},
		{"x/hold_test.go", long + "\n", "501 lines"},
		{"x/util.go", "", "name the file"},
		{"x/common_linux.go", "", "name the file"},
		{"x/helpers_test.go", "", "name the file"},
		{"x/types.go", "", "name the file"},
		{"x/typesetter.go", "", ""},
	} {
		expect(t, fileProblems(c.path, []byte(c.text)), c.want)
	}
}
