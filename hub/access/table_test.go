package access

import (
	"slices"
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol/resource"
)

func words[T ~string](list []T) (out []string) {
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func TestRightsTable(t *testing.T) {
	doctable.Of(t, "role.go", "has").HoldOne(t, [][]string{words(Roles()), words(Operations())}, func(in []string) string {
		return yes(Role(in[0]).has(Operation(in[1])))
	})
}

func TestUnknownRoleHasNoRight(t *testing.T) {
	for _, op := range Operations() {
		if Role("root").has(op) || Role("").has(op) {
			t.Errorf("%s", op)
		}
	}
}

func TestOnTable(t *testing.T) {
	kinds := words(resource.Kinds())
	slices.Sort(kinds)
	doctable.Of(t, "operation.go", "On").HoldOne(t, [][]string{words([]Operation{Read, Apply, Delete}), slices.Compact(kinds)}, func(in []string) string {
		if got := On(Operation(in[0]), resource.Kind(in[1])); string(got) != in[0] {
			return string(got)
		}
		return "the verb"
	})
}

func TestVerdictTable(t *testing.T) {
	yesno := []string{"yes", "no"}
	doctable.Of(t, "may.go", "verdict").HoldOne(t, [][]string{yesno, yesno, words([]extent{inside, partly, outside}), words(Operations())}, func(in []string) string {
		return string(verdict(in[0] == "yes", in[1] == "yes", extent(in[2]), Operation(in[3])))
	})
}

// The parts put together: every role, scope, set of places and operation.
func TestMay(t *testing.T) {
	row7, row8 := Labels{"row": "7", "team": "a"}, Labels{"row": "8"}
	scopes := []Scope{{}, {MatchLabels: map[string]string{"row": "7"}}, {MatchLabels: map[string]string{"row": "7", "team": "a"}}, {MatchLabels: map[string]string{"row": ""}}}
	targets := map[extent][][]Labels{
		inside:  {{row7}, {row7, row7}},
		partly:  {{row7, row8}, {row7, nil}, {nil, row7}},
		outside: {nil, {row8}, {nil}, {{}}, {{"team": "a"}}},
	}
	for _, role := range Roles() {
		for n, scope := range scopes {
			for e, list := range targets {
				for _, places := range list {
					for _, op := range Operations() {
						in := e
						if n == 3 { // a label that is there and empty is another than none
							in = outside
						}
						want := verdict(role.has(op), n == 0, in, op)
						if got := May(Caller{Roles: []Role{role}, Scope: scope}, op, Target{places}); got != want {
							t.Errorf("%s in %s, %s of %v: %s, want %s", role, scope, op, places, got, want)
						}
					}
				}
			}
		}
	}
	if MayAnywhere(Caller{Name: "x", BreakGlass: true}, Read) {
		t.Error("a caller without roles may read")
	}
	if c := (Caller{Roles: []Role{Fencer, Operator}}); !MayAnywhere(c, Hold) || !MayAnywhere(c, Apply) || MayAnywhere(c, JoinToken) {
		t.Error("two roles are not the sum of both")
	}
}
