package guard

import (
	"fmt"
	"go/ast"
	"go/token"
	"testing"
)

// Packages keep no state and start nothing by being imported: what a value
// needs is passed to it.
func TestGlobals(t *testing.T) {
	for _, s := range sources(t, func(p string) bool { return !isTest(p) }) {
		report(t, globals(s))
	}
}

// globals returns a file's package variables and init functions. Error values, tables that
// nothing changes (TestTables), interface checks, embedded files and main's version, which the
// linker sets, may be.
func globals(s source) []string {
	var problems []string
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" {
				problems = append(problems, fmt.Sprintf("%s: func init", s.at(d)))
			}
		case *ast.GenDecl:
			if d.Tok != token.VAR {
				continue
			}
			for _, spec := range d.Specs {
				v := spec.(*ast.ValueSpec) // of a var declaration
				if isEmbedFS(v.Type) {
					continue
				}
				for i, name := range v.Names {
					version := s.file.Name.Name == "main" && name.Name == "version"
					if name.Name != "_" && !version && (i >= len(v.Values) || !makesError(v.Values[i]) && !isTable(name, v.Values[i])) {
						problems = append(problems, fmt.Sprintf("%s: package variable %s", s.at(name), name.Name))
					}
				}
			}
		}
	}
	return problems
}

// isEmbedFS reports whether a type is embed.FS, which nothing can change.
func isEmbedFS(e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "FS" {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == "embed"
}

// makesError reports whether an expression is a call of errors.New.
func makesError(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "New" {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == "errors"
}

func TestGlobalsCanFail(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`package x; const n = 1; func f() { var n int; _ = n }`, ""},
		{`package x; import "errors"; var ErrGone = errors.New("gone")`, ""},
		{`package x; var _ error = (*T)(nil)`, ""},
		{`package main; var version = "dev"`, ""},
		{`package x; type T struct{}; func (T) init() {}`, ""},
		{`package x; import "embed"; var files embed.FS`, ""},
		{`package x; import "io/fs"; var files fs.FS`, "variable files"},
		{`package x; var version = "dev"`, "variable version"},
		{`package x; var table = map[string]int{"a": 1}`, ""},
		{`package x; import "regexp"; var re = regexp.MustCompile("x")`, ""},
		{`package x; var Table = map[string]int{"a": 1}`, "variable Table"},
		{`package x; var table = map[string]int{}`, "variable table"},
		{`package x; var table = make(map[string]int)`, "variable table"},
		{`package x; import "regexp"; var re = regexp.MustCompile(f())`, "variable re"},
		{`package x; import "errors"; var ErrGone, n = errors.New("gone"), 1`, "variable n"},
		{`package x; func init() {}`, "func init"},
	} {
		expect(t, globals(parse(t, "x.go", []byte(c.text))), c.want)
	}
}
