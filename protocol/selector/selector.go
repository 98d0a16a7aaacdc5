package selector

import (
	"strings"
	"unicode"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Selector is what labels must be. The zero Selector matches everything.
type Selector struct{ resource.Selector }

// Parse reads requirements joined by commas: key, !key, key=value, key!=value, key in (a,b) and
// key notin (a,b). Errors are invalid.
func Parse(s string) (Selector, error) {
	var out Selector
	for _, part := range parts(s) {
		e, err := requirement(part)
		if err != nil {
			return Selector{}, err
		}
		out.MatchExpressions = append(out.MatchExpressions, e)
	}
	return out, nil
}

// Matches reports whether labels have all that is selected.
func (s Selector) Matches(labels map[string]string) bool {
	return s.Empty() || s.Selector.Matches(labels)
}

// parts splits at the commas that are not in parentheses.
func parts(s string) (out []string) {
	depth, from := 0, 0
	for i := 0; i <= len(s); i++ {
		switch {
		case i == len(s), s[i] == ',' && depth == 0:
			if part := strings.TrimSpace(s[from:i]); part != "" {
				out = append(out, part)
			}
			from = i + 1
		case s[i] == '(':
			depth++
		case s[i] == ')':
			depth = max(depth-1, 0)
		}
	}
	return out
}

// requirement reads one of them.
func requirement(part string) (e resource.SelectorExpression, err error) {
	switch before, set, isSet := strings.Cut(part, "("); {
	case isSet:
		words := strings.Fields(before)
		values, closed := strings.CutSuffix(strings.TrimSpace(set), ")")
		if len(words) != 2 || !closed {
			return e, wrong(part)
		}
		e.Key, e.Operator = words[0], map[string]resource.SelectorOperator{"in": resource.SelectIn, "notin": resource.SelectNotIn}[words[1]]
		for v := range strings.SplitSeq(values, ",") {
			e.Values = append(e.Values, strings.TrimSpace(v))
		}
	case strings.HasPrefix(part, "!"):
		e.Key, e.Operator = strings.TrimSpace(part[1:]), resource.SelectDoesNotExist
	default:
		key, value, hasValue := strings.Cut(part, "=")
		e.Key, e.Operator = strings.TrimSpace(key), resource.SelectExists
		if hasValue {
			value = strings.TrimSpace(strings.TrimPrefix(value, "=")) // kubectl's ==
			e.Operator, e.Values = resource.SelectIn, []string{value}
		}
		if k, not := strings.CutSuffix(e.Key, "!"); not && hasValue {
			e.Key, e.Operator = strings.TrimSpace(k), resource.SelectNotIn
		}
	}
	if e.Operator == "" || e.Key == "" || strings.ContainsFunc(e.Key, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("!()=", r) }) {
		return e, wrong(part)
	}
	return e, nil
}

func wrong(part string) error {
	return protocol.Errorf(protocol.CodeInvalid, "", "%q is not a selector", part).
		WithHint("give key=value, key!=value, key, !key, key in (a,b) or key notin (a,b), joined by commas")
}
