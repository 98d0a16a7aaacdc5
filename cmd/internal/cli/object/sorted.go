package object

import (
	"cmp"
	"slices"

	"rackboot/cmd/internal/cli/path"
	"rackboot/protocol"
	"rackboot/protocol/natural"
	"rackboot/protocol/resource"
	"rackboot/protocol/selector"
)

// sorted puts resources in the order of a field: numbers by their size, all else as people count. What
// has no such field comes first.
func sorted(objs []resource.Object, by string) ([]resource.Object, error) {
	if by == "" {
		return objs, nil
	}
	p, err := path.Parse(by)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "", "--sort-by %q is not a path: %w", by, err).WithHint("give a field: --sort-by .metadata.createdAt")
	}
	type keyed struct {
		obj resource.Object
		key any
	}
	var all []keyed
	for _, o := range objs {
		plain, err := selector.Plain(o)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInternal, "sort", "%w", err)
		}
		found, err := p.Values(plain)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeInvalid, "", "--sort-by %q: %w", by, err)
		}
		k := keyed{obj: o}
		if len(found) > 0 {
			k.key = found[0]
		}
		all = append(all, k)
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return compareValues(a.key, b.key) })
	out := make([]resource.Object, len(all))
	for i, k := range all {
		out[i] = k.obj
	}
	return out, nil
}

func compareValues(a, b any) int {
	switch {
	case a == nil || b == nil:
		return cmp.Compare(there(a), there(b))
	}
	x, xIs := number(a)
	y, yIs := number(b)
	if xIs && yIs {
		return cmp.Compare(x, y)
	}
	return natural.Compare(selector.Text(a), selector.Text(b))
}

func there(v any) int {
	if v == nil {
		return 0
	}
	return 1
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}
