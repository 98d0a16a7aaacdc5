package ignition

import (
	"reflect"
	"strconv"
	"strings"
)

// filler puts a JSON tree into a structure, and notes what has no place in it. Fields say
// by since:"N" that specification 2.N was the first to have them.
type filler struct {
	minor   int
	lost    []Loss
	refusal *Refusal // the first
}

const (
	wrongType  = "has the wrong type"
	unknownKey = "a field that its specification does not know"
)

func (f *filler) refuse(at, message string) {
	if f.refusal == nil {
		f.refusal = refuse(Invalid, at, message)
	}
}

// fill puts t into v, which can be set. null leaves v as it is.
func (f *filler) fill(t *tree, v reflect.Value, at string) {
	if t.kind == null {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*tree]() {
			v.Set(reflect.ValueOf(t))
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(t, v.Elem(), at)
	case reflect.Struct:
		f.fields(t, v, at)
	case reflect.Slice:
		f.elements(t, v, at)
	case reflect.String:
		if t.kind != text {
			f.refuse(at, wrongType)
			return
		}
		v.SetString(t.text)
	case reflect.Bool:
		if t.kind != truth {
			f.refuse(at, wrongType)
			return
		}
		v.SetBool(t.text == "true")
	default: // integers
		n, err := strconv.ParseInt(t.text, 10, 64)
		if t.kind != number || err != nil {
			f.refuse(at, wrongType)
			return
		}
		v.SetInt(n)
	}
}

func (f *filler) elements(t *tree, v reflect.Value, at string) {
	if t.kind != list {
		f.refuse(at, wrongType)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(t.kids), len(t.kids)))
	for i, kid := range t.kids {
		inner := at + "[" + itoa(i) + "]"
		if kid.kind == null {
			f.refuse(inner, "is null")
			return
		}
		f.fill(kid, v.Index(i), inner)
	}
}

func (f *filler) fields(t *tree, v reflect.Value, at string) {
	if t.kind != object {
		f.refuse(at, wrongType)
		return
	}
	places := map[string]reflect.Value{}
	for _, field := range reflect.VisibleFields(v.Type()) {
		since, _ := strconv.Atoi(field.Tag.Get("since"))
		if name := field.Tag.Get("json"); name != "" && since <= f.minor {
			places[name] = v.FieldByIndex(field.Index)
		}
	}
	for i, key := range t.keys {
		place, ok := places[key]
		if ok {
			f.fill(t.kids[i], place, at+"."+key)
			continue
		}
		// Ignition reads names without regard to case, and warns of them as unknown.
		for name := range places {
			if strings.EqualFold(name, key) {
				f.refuse(at+"."+name, "is not written in its specification's capitals")
			}
		}
		f.lost = append(f.lost, Loss{at, unknownKey})
	}
}
