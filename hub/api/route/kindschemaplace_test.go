package route

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// place is where in a resource of a kind a schema is.
type place struct {
	kind  resource.Kind
	steps []string // of an item of a list the step is [0], of a value of a map it is x
	above []reflect.Type
}

func (p place) below(t reflect.Type, step string) place {
	return place{p.kind, append(slices.Clone(p.steps), step), append(slices.Clone(p.above), t)}
}

// String is the path as Validate writes it.
func (p place) String() string {
	return strings.ReplaceAll(strings.Join(p.steps, "."), ".[0]", "[0]")
}

// always reports whether a value at a place is refused there, whatever one other field beside it or
// beside what it is in has; nil is no value.
func (m schemaMaker) always(at place, value any) bool {
	blames := func(path string) bool { return path == at.String() }
	if !refused(at.kind, at.document(value, nil, nil), blames) {
		return false
	}
	for i, typ := range at.above {
		if typ.Kind() != reflect.Struct || i == 0 {
			continue
		}
		for _, f := range jsonFields(typ) {
			if f.name == at.steps[i] {
				continue
			}
			beside := append(slices.Clone(at.steps[:i]), f.name)
			for _, sample := range m.samples(f.typ, 1) {
				if !refused(at.kind, at.document(value, beside, sample), blames) {
					return false
				}
			}
		}
	}
	return true
}

// samples are some values of a type, and of a struct each that one of its fields makes, so deep.
func (m schemaMaker) samples(typ reflect.Type, depth int) []any {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch typ.Kind() {
	case reflect.String:
		out := []any{"x", "5"}
		for _, word := range m.words[path.Base(typ.PkgPath())][typ.Name()] {
			out = append(out, word)
		}
		return out
	case reflect.Bool:
		return []any{true, false}
	case reflect.Int64:
		if typ == reflect.TypeFor[protocol.Duration]() {
			return []any{"1m"}
		}
		return []any{1}
	case reflect.Int, reflect.Int32, reflect.Uint, reflect.Uint16, reflect.Uint64:
		return []any{1}
	case reflect.Slice:
		if typ.Elem().Kind() == reflect.Uint8 {
			return []any{"eA=="}
		}
		return []any{[]any{m.samples(typ.Elem(), 0)[0]}}
	case reflect.Map:
		return []any{map[string]any{"x": m.samples(typ.Elem(), 0)[0]}}
	case reflect.Struct:
		if typ == reflect.TypeFor[time.Time]() {
			return []any{"2026-11-20T09:00:00Z"}
		}
		out := []any{map[string]any{}}
		if depth > 0 {
			for _, f := range jsonFields(typ) {
				for _, sample := range m.samples(f.typ, depth-1) {
					out = append(out, map[string]any{f.name: sample})
				}
			}
		}
		return out
	}
	return []any{"x"}
}

// document is a resource that has a value at its place, one beside it, and nothing else.
func (p place) document(value any, beside []string, sample any) map[string]any {
	doc := map[string]any{}
	steps := p.steps
	if value == nil {
		steps = steps[:len(steps)-1]
		value = map[string]any{}
	}
	if len(steps) > 0 {
		set(doc, steps, value)
	}
	if beside != nil {
		set(doc, beside, sample)
	}
	return doc
}

// set puts a value at a path, and makes what it is in.
func set(doc map[string]any, steps []string, value any) {
	key, rest := steps[0], steps[1:]
	if len(rest) == 0 {
		doc[key] = value
		return
	}
	if rest[0] == "[0]" {
		if len(rest) == 1 {
			doc[key] = []any{value}
			return
		}
		list, _ := doc[key].([]any)
		if len(list) == 0 {
			list = []any{map[string]any{}}
			doc[key] = list
		}
		item, is := list[0].(map[string]any)
		if !is {
			item = map[string]any{}
			list[0] = item
		}
		set(item, rest[1:], value)
		return
	}
	inner, is := doc[key].(map[string]any)
	if !is {
		inner = map[string]any{}
		doc[key] = inner
	}
	set(inner, rest, value)
}

// refused reports whether the hub blames a path of a resource that fits. What it cannot read at all
// is not blamed on one path.
func refused(kind resource.Kind, doc map[string]any, blames func(path string) bool) bool {
	doc["apiVersion"], doc["kind"] = resource.APIVersion, kind
	raw, err := json.Marshal(doc)
	if err != nil {
		return false
	}
	obj, wrong := Object(raw)
	if len(wrong) > 0 {
		return true // as a sample it says nothing
	}
	obj.Default()
	return slices.ContainsFunc(obj.Validate(), func(f protocol.FieldError) bool { return blames(f.Path) })
}

// jsonField is a field of a struct as JSON has it.
type jsonField struct {
	name string
	of   reflect.Type // the struct that it is written in
	typ  reflect.Type
}

// jsonFields are those of a struct, with those of structs that it embeds.
func jsonFields(typ reflect.Type) (out []jsonField) {
	for f := range typ.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || (!f.IsExported() && !f.Anonymous):
		case f.Anonymous && name == "":
			out = append(out, jsonFields(f.Type)...)
		default:
			out = append(out, jsonField{name, typ, f.Type})
		}
	}
	return out
}
