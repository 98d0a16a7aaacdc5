package labels

import (
	"maps"
	"slices"

	"rackboot/protocol/resource"
)

// Part is a part of a selector that names what has to be there: a key with one of some values, or with any.
type Part struct {
	Key    string
	Values []string // each once; nil is any
}

// Parts are those of a selector that name what has to be there. What matches the selector has all of them. A selector that
// only says what must not be has none.
func Parts(s resource.Selector) (out []Part) {
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		out = append(out, Part{key, []string{s.MatchLabels[key]}})
	}
	for _, e := range s.MatchExpressions {
		switch e.Operator {
		case resource.SelectIn:
			values := slices.Sorted(slices.Values(e.Values))
			if values == nil {
				values = []string{} // none fits
			}
			out = append(out, Part{e.Key, slices.Compact(values)})
		case resource.SelectExists:
			out = append(out, Part{Key: e.Key})
		case resource.SelectNotIn, resource.SelectDoesNotExist:
		}
	}
	return out
}
