package guard

import (
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"testing"
)

// A file is as long as its thought, and named for it.
func TestFiles(t *testing.T) {
	for p := range files(t, isGo) {
		report(t, fileProblems(p))
	}
}

// fileProblems returns what is wrong with a Go file's name.
func fileProblems(p string) []string {
	if regexp.MustCompile(`^(util|common|helper|misc|types\.go$|types_test\.go$)`).MatchString(path.Base(p)) {
		return []string{p + ": name the file for the noun it holds"}
	}
	return nil
}

// What is named as a generated file is one, and says so: some guards leave it out.
func TestGenerated(t *testing.T) {
	found := files(t, isGenerated)
	if len(found) != 1 || !ast.IsGenerated(parse(t, "client/client.gen.go", found["client/client.gen.go"]).file) {
		t.Errorf("%q: client/client.gen.go is the only one, which make client writes", slices.Sorted(maps.Keys(found)))
	}
}

func TestFilesCanFail(t *testing.T) {
	for _, c := range []struct{ path, want string }{
		{"x/hold.go", ""},
		{"x/util.go", "name the file"},
		{"x/common_linux.go", "name the file"},
		{"x/helpers_test.go", "name the file"},
		{"x/types.go", "name the file"},
		{"x/typesetter.go", ""},
	} {
		expect(t, fileProblems(c.path), c.want)
	}
}
