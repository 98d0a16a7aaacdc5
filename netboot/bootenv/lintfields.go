package bootenv

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// unknownField is the first part of a chain of fields that the dot of a template does not
// have; empty where it has all, or where it depends on values.
func unknownField(chain string) (part string, have []string) {
	at := reflect.TypeFor[*scope]()
	for part := range strings.SplitSeq(chain, ".") {
		m, ok := at.MethodByName(part)
		switch {
		case ok && m.Type.NumIn() > 1: // it takes arguments, and what it gives is not known
			return "", nil
		case ok:
			at = m.Type.Out(0)
		case at.Kind() == reflect.Pointer && at.Elem().Kind() == reflect.Struct:
			f, ok := at.Elem().FieldByName(part)
			if !ok || !f.IsExported() {
				return part, members(at)
			}
			at = f.Type
		case at.Kind() == reflect.Map, at.Kind() == reflect.Interface:
			return "", nil
		default:
			return part, members(at)
		}
	}
	return "", nil
}

// members are the names that templates have of a type.
func members(t reflect.Type) (names []string) {
	for m := range t.Methods() {
		if m.Name != "Format" { // of fmt, so that printing it prints little
			names = append(names, m.Name)
		}
	}
	return names
}

// fields finds chains of fields that nothing has. One that begins at the data of a text is
// an error where that is the environment's, and a warning in a Template, which somebody may
// call with something else.
func (fs *findings) fields(all []*unit) {
	for _, u := range all {
		for _, x := range u.uses {
			root, _, deeper := strings.Cut(x.chain, ".")
			known := root == "Machine" || root == "Env"
			if !x.data && (!known || !deeper) {
				continue
			}
			part, have := unknownField(x.chain)
			if part == "" {
				continue
			}
			severity := SeverityError
			if !known && !strings.HasPrefix(u.name, "spec.") {
				severity = SeverityWarning
			}
			hint := ""
			if len(have) > 0 {
				hint = "use one of " + strings.Join(have, ", ")
			}
			line, column := place(u.text, x.at)
			*fs = append(*fs, Finding{severity, pathOf(u), line, column, fmt.Sprintf("there is no %s in .%s", part, x.chain), hint})
		}
	}
}

// loops finds templates that execute themselves whenever they are executed, directly or
// through others: none of them ends. What does it under a condition may.
func (fs *findings) loops(all []*unit) {
	type tree struct {
		u    *unit
		name string
	}
	owner := map[string]tree{}
	for _, u := range all {
		for _, name := range sortedKeys(u.trees) {
			if _, there := owner[name]; !there {
				owner[name] = tree{u, name}
			}
		}
	}
	told := map[string]bool{}
	var way []string
	var visit func(name string)
	visit = func(name string) {
		t, ok := owner[name]
		if !ok || told[name] {
			return
		}
		if i := slices.Index(way, name); i >= 0 {
			circle := append(slices.Clone(way[i:]), name)
			for _, n := range circle {
				told[n] = true
			}
			fs.err(pathOf(t.u), "call one of them under a condition that ends", "templates call each other without end: %s", strings.Join(circle, ", "))
			return
		}
		way = append(way, name)
		for _, next := range t.u.always[name] {
			visit(next)
		}
		way = way[:len(way)-1]
	}
	for _, name := range sortedKeys(owner) {
		visit(name)
	}
}

// pathOf is where a finding of a text is, see [sources.reach].
func pathOf(u *unit) string {
	if strings.HasPrefix(u.name, "spec.") {
		return u.name
	}
	return "template " + u.name
}
