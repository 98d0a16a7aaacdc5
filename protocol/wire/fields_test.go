package wire

import (
	"encoding"
	"reflect"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
)

// field is one field of a message as it travels.
type field struct {
	name string // in CBOR
	cbor string // its type in CBOR; for maps, lists and structs with what they hold
	may  bool   // may be absent
	typ  reflect.Type
	at   []int // its index in the struct
}

// fields lists the fields of a struct, those of embedded structs among them.
func fields(t reflect.Type) (out []field) {
	for _, f := range reflect.VisibleFields(t) {
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || f.Anonymous && name == "" {
			continue
		}
		out = append(out, field{name, cborType(f.Type), opts != "", f.Type, f.Index})
	}
	return out
}

// fieldsOf calls visit for each field of the struct below t and of all that it
// holds, each struct once.
func fieldsOf(t reflect.Type, visit func(owner reflect.Type, f field)) {
	walk(t, map[reflect.Type]bool{}, visit)
}

func walk(t reflect.Type, done map[reflect.Type]bool, visit func(reflect.Type, field)) {
	t = inner(t)
	if done[t] || !isMap(t) {
		return
	}
	done[t] = true
	for _, f := range fields(t) {
		visit(t, f)
		walk(f.typ, done, visit)
	}
}

// inner takes pointers, lists and maps from around a type.
func inner(t reflect.Type) reflect.Type {
	for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, t.Kind()) {
		t = t.Elem()
	}
	return t
}

// isMap says whether a type is a struct that travels as a map.
func isMap(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() && !t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// cborType names the type that a Go type has in CBOR.
func cborType(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "time"
	case t == reflect.TypeFor[time.Duration](), t == reflect.TypeFor[protocol.Duration]():
		return "duration"
	case t == reflect.TypeFor[[]byte]():
		return "bytes"
	case t.Kind() == reflect.Pointer:
		return cborType(t.Elem())
	case t.Kind() == reflect.Slice:
		return "list of " + cborType(t.Elem())
	case t.Kind() == reflect.Map:
		return "map of " + cborType(t.Elem())
	case isMap(t):
		return t.Name()
	case t.Kind() == reflect.Struct || t.Kind() == reflect.String:
		return "text"
	case t.Kind() == reflect.Bool:
		return "bool"
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64:
		return "uint"
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		return "int"
	}
	return t.String()
}

// fieldsSeen adds the names of all fields in v that are not zero.
func fieldsSeen(seen map[string]bool, v reflect.Value) {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		fieldsSeen(seen, v.Elem())
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			fieldsSeen(seen, v.Index(i))
		}
	case v.Kind() == reflect.Map:
		for _, k := range v.MapKeys() {
			fieldsSeen(seen, v.MapIndex(k))
		}
	case isMap(v.Type()):
		for _, f := range fields(v.Type()) {
			if w := v.FieldByIndex(f.at); !w.IsZero() {
				seen[v.Type().Name()+"."+f.name] = true
				fieldsSeen(seen, w)
			}
		}
	}
}
