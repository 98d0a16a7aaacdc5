package ignition

import (
	"reflect"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_6/types"
)

// specified cuts a path at its first part that is no field of any specification: nobody
// but the stub's author knows what stands there.
func specified(path string) string {
	names := map[string]bool{"$": true}
	for _, t := range []reflect.Type{reflect.TypeFor[stub1](), reflect.TypeFor[stub2](), reflect.TypeFor[types.Config]()} {
		addFields(names, t)
	}
	var kept []string
	for part := range strings.SplitSeq(path, ".") {
		if name, _, _ := strings.Cut(part, "["); !names[name] {
			break
		}
		kept = append(kept, part)
	}
	return strings.Join(kept, ".")
}

// addFields adds the names that a structure has in JSON, at every depth.
func addFields(names map[string]bool, t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		if t != reflect.TypeFor[*tree]() {
			addFields(names, t.Elem())
		}
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
				names[name] = true
				addFields(names, f.Type)
			}
		}
	default:
	}
}
