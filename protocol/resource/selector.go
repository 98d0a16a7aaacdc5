package resource

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Selector selects by labels: all of its labels and all of its expressions must fit, as with the
// LabelSelector of Kubernetes. One that has neither selects nothing.
type Selector struct {
	MatchLabels      map[string]string    `json:"matchLabels,omitempty"`
	MatchExpressions []SelectorExpression `json:"matchExpressions,omitempty"`
}

// SelectorExpression is what the label of a key must be.
type SelectorExpression struct {
	Key      string           `json:"key"`
	Operator SelectorOperator `json:"operator"`
	// Values are for In and NotIn.
	Values []string `json:"values,omitempty"`
}

// SelectorOperator is how a label is compared.
type SelectorOperator string

// The operators, those of Kubernetes.
const (
	SelectIn           SelectorOperator = "In"           // there, with one of the values
	SelectNotIn        SelectorOperator = "NotIn"        // not there, or with none of the values
	SelectExists       SelectorOperator = "Exists"       // there
	SelectDoesNotExist SelectorOperator = "DoesNotExist" // not there
)

// SelectorOperators lists the operators.
func SelectorOperators() []SelectorOperator {
	return []SelectorOperator{SelectIn, SelectNotIn, SelectExists, SelectDoesNotExist}
}

// The bounds of a selector.
const (
	maxExpressions = 16
	maxValues      = 64
)

// Empty reports whether a selector says nothing.
func (s Selector) Empty() bool { return len(s.MatchLabels)+len(s.MatchExpressions) == 0 }

// Matches reports whether labels are what the selector wants.
func (s Selector) Matches(labels map[string]string) bool {
	for k, want := range s.MatchLabels {
		if v, there := labels[k]; !there || v != want {
			return false
		}
	}
	for _, e := range s.MatchExpressions {
		v, there := labels[e.Key]
		if !expressionRule(e.Operator, there, slices.Contains(e.Values, v)) {
			return false
		}
	}
	return !s.Empty()
}

// expressionRule says whether a label fits. The first row that fits decides.
//
//	operator     | there | listed | fits
//	In           | yes   | yes    | yes
//	In           | *     | *      | no
//	NotIn        | yes   | yes    | no
//	NotIn        | *     | *      | yes
//	Exists       | yes   | *      | yes
//	Exists       | no    | *      | no
//	DoesNotExist | yes   | *      | no
//	DoesNotExist | no    | *      | yes
//
// there is that there is a label of the key, listed that its value is one of the values. What is none of the
// operators fits nothing.
func expressionRule(op SelectorOperator, there, listed bool) bool {
	switch op {
	case SelectIn:
		return there && listed
	case SelectNotIn:
		return !there || !listed
	case SelectExists:
		return there
	case SelectDoesNotExist:
		return !there
	}
	return false
}

// String is the selector as kubectl writes one.
func (s Selector) String() string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		out = append(out, k+"="+s.MatchLabels[k])
	}
	for _, e := range s.MatchExpressions {
		switch e.Operator {
		case SelectIn:
			if len(e.Values) == 1 && !strings.ContainsAny(e.Values[0], "=(),") { // else it is read as another one
				out = append(out, e.Key+"="+e.Values[0])
				continue
			}
			out = append(out, fmt.Sprintf("%s in (%s)", e.Key, strings.Join(e.Values, ",")))
		case SelectNotIn:
			out = append(out, fmt.Sprintf("%s notin (%s)", e.Key, strings.Join(e.Values, ",")))
		case SelectExists:
			out = append(out, e.Key)
		case SelectDoesNotExist:
			out = append(out, "!"+e.Key)
		}
	}
	return strings.Join(out, ",")
}

// check reports wrong fields of a selector; everything says what an empty one would select.
func (s Selector) check(f *fields, path, everything string) {
	if s.Empty() {
		f.Add(path+".matchLabels", "give at least one label, or one of matchExpressions; %s", everything)
	}
	if n := len(s.MatchExpressions); n > maxExpressions {
		f.Add(path+".matchExpressions", "has %d expressions, and may have %d", n, maxExpressions)
	}
	for i, e := range s.MatchExpressions {
		at := fmt.Sprintf("%s.matchExpressions[%d]", path, i)
		if e.Key == "" {
			f.Add(at+".key", "give the label that is compared")
		}
		oneOf(f, at+".operator", e.Operator, SelectorOperators()...)
		switch wants := e.Operator == SelectIn || e.Operator == SelectNotIn; {
		case wants && (len(e.Values) == 0 || len(e.Values) > maxValues):
			f.Add(at+".values", "there are %d; %s wants 1 to %d", len(e.Values), e.Operator, maxValues)
		case !wants && len(e.Values) > 0:
			f.Add(at+".values", "%s takes none", e.Operator)
		}
	}
}
