package decide

import (
	"go/ast"
	"testing"
)

// One function enters a stage: else a state could last from another moment than its own.
func TestOneWayIntoAStage(t *testing.T) {
	enters := 0
	for _, f := range parsed(t) {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			topic, recv := "", ""
			if fn.Recv != nil {
				topic, recv = receiver(fn)
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				a, ok := n.(*ast.AssignStmt)
				if !ok {
					return true
				}
				for _, l := range a.Lhs {
					sel, ok := l.(*ast.SelectorExpr)
					if !ok {
						continue
					}
					is := false
					switch x := sel.X.(type) {
					case *ast.SelectorExpr:
						is = x.Sel.Name == "Stage"
					case *ast.Ident:
						is = topic == "Stage" && x.Name == recv
					}
					if !is || sel.Sel.Name != "State" && sel.Sel.Name != "Since" {
						continue
					}
					if enters++; fn.Name.Name != "enter" {
						t.Errorf("%s writes %s of a stage", fn.Name.Name, sel.Sel.Name)
					}
				}
				return true
			})
		}
	}
	if enters != 2 {
		t.Errorf("state and moment are written in %d places", enters)
	}
}
