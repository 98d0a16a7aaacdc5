package guard

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// prose are the fields whose text is for people. What a program decides on has a field of
// its own: a code, a target, a state.
func prose() []string { return []string{"Message", "Reason", "Detail", "Text"} }

// readers are the functions of strings and regexp that find something in a text.
func readers() []string {
	return []string{
		"Contains", "ContainsAny", "Cut", "CutPrefix", "CutSuffix", "EqualFold", "HasPrefix", "HasSuffix", "Index",
		"IndexAny", "Split", "SplitN", "SplitSeq", "TrimPrefix", "TrimSuffix", "MatchString", "FindString", "FindStringSubmatch",
	}
}

// Nobody decides on what is written for people: a sentence that is put better would change
// what servers do. The command line may shorten it, and tests may read it.
func TestNoDecisionOnProse(t *testing.T) {
	// The library of Ignition 3.0.0 has no other word for a key that it does not know.
	const foreign = "netboot/ignition/result.go"
	for _, s := range sources(t, func(p string) bool {
		return !isTest(p) && p != foreign && !strings.HasPrefix(p, "cmd/") && !strings.HasPrefix(p, "integration/")
	}) {
		report(t, decidedOn(s))
	}
}

// decidedOn returns where a file reads, compares or switches on prose. Whether there is any,
// and whether two objects say the same, may be asked.
func decidedOn(s source) (problems []string) {
	bad := func(n ast.Node, name, how string) {
		problems = append(problems, fmt.Sprintf("%s: %s is prose, and %s", s.at(n), name, how))
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains(readers(), f.Sel.Name) {
				return true
			}
			for _, a := range n.Args {
				if name := proseField(a); name != "" {
					bad(n, name, f.Sel.Name+" reads it")
				}
			}
		case *ast.BinaryExpr:
			x, y := proseField(n.X), proseField(n.Y)
			if n.Op != token.EQL && n.Op != token.NEQ || x == "" && y == "" || isSaid(n.X) || isSaid(n.Y) || x != "" && y != "" {
				return true
			}
			bad(n, x+y, "it is compared")
		case *ast.SwitchStmt:
			if name := proseField(n.Tag); name != "" {
				bad(n, name, "it is switched on")
			}
		}
		return true
	})
	return problems
}

// proseField is the name of the prose that an expression is, or empty.
func proseField(e ast.Expr) string {
	if sel, ok := e.(*ast.SelectorExpr); ok && slices.Contains(prose(), sel.Sel.Name) {
		return sel.Sel.Name
	}
	return ""
}

// isSaid says whether an expression is the empty text, or a variable of what was said now,
// which is compared with what was said before.
func isSaid(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Value == `""`
	case *ast.Ident:
		return slices.ContainsFunc(prose(), func(name string) bool { return e.Name == strings.ToLower(name) })
	}
	return false
}

func TestNoDecisionOnProseCanFail(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`_ = a.Message != ""`, ""},
		{`_ = a.Message == b.Message`, ""},
		{`_ = strings.TrimSpace(a.Message)`, ""},
		{`_ = strings.HasPrefix(a.Reason, "held")`, "HasPrefix reads it"},
		{`id, _, _ := strings.Cut(ev.Message, " ")`, "Cut reads it"},
		{`_ = a.Reason == api.Left`, "compared"},
		{`_ = words(g) == a.Reason`, "compared"},
		{`_ = a.Text != b.Message`, ""},
		{`_ = was.Reason == reason`, ""},
		{`switch a.Message { case "x": }`, "switched on"},
	} {
		expect(t, decidedOn(parse(t, "x.go", []byte("package x; func f() { "+c.text+" }"))), c.want)
	}
}
