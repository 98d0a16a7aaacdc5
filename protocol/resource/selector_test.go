package resource

import (
	"strings"
	"testing"

	"rackboot/internal/doctable"
)

func TestExpressionTable(t *testing.T) {
	yes := map[bool]string{true: "yes", false: "no"}
	doctable.Of(t, "selector.go", "expressionRule").HoldOne(t, [][]string{doctable.Words(SelectorOperators()...), doctable.YesNo(), doctable.YesNo()}, func(in []string) string {
		return yes[expressionRule(SelectorOperator(in[0]), in[1] == "yes", in[2] == "yes")]
	})
	if expressionRule("Gt", true, true) {
		t.Error("what is no operator fits")
	}
}

// Kubernetes, labels.Requirement.Matches: a label that is not there is not in any list, and not equal to "".
func TestSelectorMatches(t *testing.T) {
	of := func(key string, op SelectorOperator, values ...string) SelectorExpression {
		return SelectorExpression{key, op, values}
	}
	labels := map[string]string{"role": "node", "row": "7", "empty": ""}
	for name, row := range map[string]struct {
		s    Selector
		want bool
	}{
		"nothing":                       {Selector{}, false},
		"a label":                       {Selector{MatchLabels: map[string]string{"role": "node"}}, true},
		"another value":                 {Selector{MatchLabels: map[string]string{"role": "edge"}}, false},
		"an empty one that is there":    {Selector{MatchLabels: map[string]string{"empty": ""}}, true},
		"an empty one that is not":      {Selector{MatchLabels: map[string]string{"none": ""}}, false},
		"In":                            {Selector{MatchExpressions: []SelectorExpression{of("row", SelectIn, "6", "7")}}, true},
		"In another":                    {Selector{MatchExpressions: []SelectorExpression{of("row", SelectIn, "6")}}, false},
		"In, not there":                 {Selector{MatchExpressions: []SelectorExpression{of("none", SelectIn, "", "7")}}, false},
		"NotIn":                         {Selector{MatchExpressions: []SelectorExpression{of("row", SelectNotIn, "7")}}, false},
		"NotIn, not there":              {Selector{MatchExpressions: []SelectorExpression{of("none", SelectNotIn, "7")}}, true},
		"Exists":                        {Selector{MatchExpressions: []SelectorExpression{of("empty", SelectExists)}}, true},
		"DoesNotExist":                  {Selector{MatchExpressions: []SelectorExpression{of("none", SelectDoesNotExist)}}, true},
		"a label and an expression":     {Selector{map[string]string{"role": "node"}, []SelectorExpression{of("row", SelectNotIn, "8")}}, true},
		"one of both does not":          {Selector{map[string]string{"role": "node"}, []SelectorExpression{of("row", SelectNotIn, "7")}}, false},
		"two expressions, one does":     {Selector{MatchExpressions: []SelectorExpression{of("row", SelectExists), of("role", SelectIn, "edge")}}, false},
		"an operator that is not known": {Selector{MatchExpressions: []SelectorExpression{of("row", "Gt", "6")}}, false},
	} {
		if got := row.s.Matches(labels); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestSelectorCheck(t *testing.T) {
	for name, row := range map[string]struct {
		s    Selector
		want string // empty is nothing
	}{
		"empty":              {Selector{}, "spec.selector.matchLabels: give at least one label"},
		"expressions alone":  {Selector{MatchExpressions: []SelectorExpression{{"row", SelectExists, nil}}}, ""},
		"no key":             {Selector{MatchExpressions: []SelectorExpression{{"", SelectExists, nil}}}, "matchExpressions[0].key"},
		"no such operator":   {Selector{MatchExpressions: []SelectorExpression{{"row", "Gt", nil}}}, "matchExpressions[0].operator"},
		"In without values":  {Selector{MatchExpressions: []SelectorExpression{{"row", SelectIn, nil}}}, "In wants 1 to 64"},
		"Exists with values": {Selector{MatchExpressions: []SelectorExpression{{"row", SelectExists, []string{"7"}}}}, "Exists takes none"},
		"too many":           {Selector{MatchExpressions: make([]SelectorExpression, 17)}, "has 17 expressions"},
	} {
		g := &ServerGroup{Spec: ServerGroupSpec{Catalogue: "os", Selector: row.s}}
		g.Metadata.Name = "g"
		g.Default()
		switch err := g.Validate(); {
		case row.want == "" && len(err) > 0, row.want != "" && (len(err) == 0 || !strings.Contains(err.Error(), row.want)):
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSelectorString(t *testing.T) {
	s := Selector{map[string]string{"b": "2", "a": "1"}, []SelectorExpression{
		{"row", SelectIn, []string{"6", "7"}}, {"rack", SelectNotIn, []string{"x"}}, {"gpu", SelectExists, nil}, {"old", SelectDoesNotExist, nil},
	}}
	if got := s.String(); got != "a=1,b=2,row in (6,7),rack notin (x),gpu,!old" {
		t.Error(got)
	}
}
