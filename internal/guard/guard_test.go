package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "rackboot"

// A listed is one package as `go list -json` prints it.
type listed struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// name is the package's path below the module; the root is ".".
func (l listed) name() string { return below(l.ImportPath) }

// ownTests are the imports of the package's tests.
func (l listed) ownTests() []string { return slices.Concat(l.TestImports, l.XTestImports) }

// below cuts the module from an import path of it.
func below(importPath string) string {
	if importPath == module {
		return "."
	}
	return strings.TrimPrefix(importPath, module+"/")
}

// ours reports whether an import path is of this module.
func ours(importPath string) bool {
	return importPath == module || strings.HasPrefix(importPath, module+"/")
}

// standard reports whether an import path is of the standard library: its first
// element has no dot.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !ours(importPath) && !strings.Contains(first, ".")
}

// match reports whether a path is the pattern, or below it if that ends in /...
func match(pattern, p string) bool {
	if root, ok := strings.CutSuffix(pattern, "/..."); ok {
		return p == root || strings.HasPrefix(p, root+"/")
	}
	return p == pattern
}

func matchAny(patterns []string, p string) bool {
	return slices.ContainsFunc(patterns, func(x string) bool { return match(x, p) })
}

// golist runs `go list -json` and decodes what it prints. The tests that need more of the
// host than Go are in it.
func golist(t *testing.T, args ...string) []listed {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-tags=host", "-json=ImportPath,Imports,TestImports,XTestImports"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v\n%s", args, err, stderr.Bytes())
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	if len(all) == 0 {
		t.Fatalf("go list %v lists nothing", args)
	}
	return all
}

// files returns the tree's files whose path the filter likes, and fails the test
// if there is none. Paths are slash-separated, from the root.
func files(t *testing.T, like func(string) bool) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		switch p = filepath.ToSlash(p); {
		case err != nil:
			return err
		case d.IsDir() && (p == ".git" || p == "bin" || p == "dist"):
			return filepath.SkipDir
		case d.Type().IsRegular() && p != ".git" && like(p):
			found[p], err = os.ReadFile(p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatal("no file to judge")
	}
	return found
}

func isGo(p string) bool   { return path.Ext(p) == ".go" }
func isTest(p string) bool { return strings.HasSuffix(p, "_test.go") }

// isGenerated reports whether a file is one that a program writes; see TestGenerated.
func isGenerated(p string) bool { return strings.HasSuffix(p, ".gen.go") }

// A source is a Go file of the tree.
type source struct {
	path string
	text []byte
	fset *token.FileSet
	file *ast.File
}

// at is where a node stands, for an error.
func (s source) at(n ast.Node) string { return s.fset.Position(n.Pos()).String() }

// parse reads one Go file with its comments.
func parse(t *testing.T, p string, text []byte) source {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, p, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return source{path: p, text: text, fset: fset, file: f}
}

// sources parses the Go files that the filter likes, in the order of their paths.
func sources(t *testing.T, like func(string) bool) []source {
	t.Helper()
	var all []source
	for p, text := range files(t, func(p string) bool { return isGo(p) && like(p) }) {
		all = append(all, parse(t, p, text))
	}
	slices.SortFunc(all, func(a, b source) int { return strings.Compare(a.path, b.path) })
	return all
}

// report fails the test once for each problem.
func report(t *testing.T, problems []string) {
	t.Helper()
	for _, p := range problems {
		t.Error(p)
	}
}

// expect fails the test unless the problems are exactly one that contains want,
// or none if want is empty.
func expect(t *testing.T, problems []string, want string) {
	t.Helper()
	switch {
	case want == "" && len(problems) > 0:
		t.Errorf("found %q in good input", problems)
	case want != "" && (len(problems) != 1 || !strings.Contains(problems[0], want)):
		t.Errorf("found %q, want one problem with %q", problems, want)
	}
}
