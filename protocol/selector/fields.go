package selector

import (
	"reflect"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Fields is what fields of a resource must be. The zero Fields match everything.
type Fields []field

type field struct {
	path  []string
	value string
	not   bool
}

// ParseFields reads path=value and path!=value, joined by commas, such as status.phase=Reserved. A path
// that a resource of the kind cannot have is an error and not just never the value: somebody may delete
// by it. Errors are invalid.
func ParseFields(s string, kind resource.Kind) (out Fields, err error) {
	for _, part := range parts(s) {
		path, value, ok := strings.Cut(part, "=")
		f := field{value: strings.TrimSpace(strings.TrimPrefix(value, "="))}
		path, f.not = strings.CutSuffix(strings.TrimSpace(path), "!")
		f.path = strings.Split(strings.Trim(strings.TrimSpace(path), "."), ".")
		if !ok || f.path[0] == "" {
			return nil, protocol.Errorf(protocol.CodeInvalid, "", "%q is not a field selector", part).WithHint("give path=value or path!=value, such as status.phase=Reserved")
		}
		if missing := unknown(reflect.TypeOf(resource.NewObject(kind)), f.path); missing != "" {
			return nil, protocol.Errorf(protocol.CodeInvalid, "", "%s has no field %q, whose value can be compared", kind, strings.Join(f.path, ".")).
				WithHint("rackctl explain %s shows what there is", strings.ToLower(string(kind)))
		}
		out = append(out, f)
	}
	return out, nil
}

// unknown is the part of a path that a type does not have, or that is no single value; empty for none.
func unknown(t reflect.Type, path []string) string {
	t, missing := walk(t, path)
	if missing != "" {
		return missing
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Map:
		if t.PkgPath() != "time" {
			return t.String()
		}
	}
	return ""
}

// walk goes along a path, through the elements of lists, to the type at its end. missing is the part of the path that there
// is not; empty for none.
func walk(t reflect.Type, path []string) (end reflect.Type, missing string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if len(path) == 0 {
		return t, ""
	}
	switch t.Kind() {
	case reflect.Map:
		return walk(t.Elem(), path[1:])
	case reflect.Slice:
		return walk(t.Elem(), path)
	case reflect.Interface:
		return t, ""
	case reflect.Struct:
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous && name == "":
				if end, missing = walk(f.Type, path); missing == "" {
					return end, ""
				}
			case name == path[0]:
				return walk(f.Type, path[1:])
			}
		}
	}
	return t, path[0]
}

// Paths are the paths of the fields that are compared.
func (f Fields) Paths() (out []string) {
	for _, one := range f {
		out = append(out, strings.Join(one.path, "."))
	}
	return out
}

// Matches reports whether a value that [Plain] made has all that is selected. What is not there is
// empty, as with kubectl. Of a list one element has to have the value; with != none has it.
func (f Fields) Matches(plain any) bool {
	for _, want := range f {
		if has(plain, want.path, want.value) == want.not {
			return false
		}
	}
	return true
}

// has reports whether the value at a path is the one that is wanted.
func has(plain any, path []string, want string) bool {
	switch value := plain.(type) {
	case []any:
		return slices.ContainsFunc(value, func(v any) bool { return has(v, path, want) })
	case map[string]any:
		if len(path) > 0 {
			return has(value[path[0]], path[1:], want)
		}
	}
	if plain == nil || len(path) > 0 {
		return want == ""
	}
	return Text(plain) == want
}
