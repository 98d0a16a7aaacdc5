package decide

import (
	"go/ast"
	"slices"
	"testing"
	"time"

	"rackboot/protocol/resource"
)

// The course has each state that was entered, from the first moment in it, and is bounded. A record's copy has its own.
func TestCourse(t *testing.T) {
	at := func(s int) time.Time { return worldStart.Add(time.Duration(s) * time.Second) }
	st := begunStage(at(0), 7, "")
	st.enter(resource.AttemptPreparing, at(60)) // a wait: its time begins anew
	st.enter(resource.AttemptArmed, at(61))
	want := []Passage{{resource.AttemptPreparing, at(0)}, {resource.AttemptArmed, at(61)}}
	if !slices.Equal(st.Course, want) || st.Epoch != 7 {
		t.Errorf("%+v, want the course %v", st, want)
	}
	st.Course = slices.Grow(st.Course, 2) // what is appended lies in the same memory, unless it was copied
	before := Record{Attempt: &Attempt{Stage: st}}
	after := before.clone()
	after.Attempt.Stage.enter(resource.AttemptFailed, at(62))
	before.Attempt.Stage.enter(resource.AttemptPowerRequested, at(63))
	if got := after.Attempt.Stage.Course; got[len(got)-1].State != resource.AttemptFailed {
		t.Errorf("a step on the record before wrote into its copy: %v", got)
	}
	for i := range 4 * maxCourse {
		s := resource.AttemptPowerRequested
		if i%2 == 0 {
			s = resource.AttemptFailed
		}
		st.enter(s, at(100+i))
		if got := st.Course; len(got) > maxCourse || got[len(got)-1] != (Passage{st.State, st.Since}) {
			t.Fatalf("%s since %s, and a course of %d that ends with %v", st.State, st.Since, len(got), got[len(got)-1])
		}
	}
}

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
