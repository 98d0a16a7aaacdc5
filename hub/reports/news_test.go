package reports

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"rackboot/protocol/resource"
)

// Whatever a report says, a difference in it is news; but for the fields that are named here,
// each with all below it.
func TestEachFieldOfAReportIsNews(t *testing.T) {
	silent := []string{
		".ReadAge", ".Observation.ReadAt", ".Observation.StartedAt", ".Observation.BootProgress", ".Observation.OEMProgress",
		".Observation.SystemState", ".Observation.LastResetTime", ".Observation.PowerLog",
	}
	var seen []string
	each(reflect.TypeFor[resource.ServerReport](), "", func(path string) {
		a, b := &resource.ServerReport{}, &resource.ServerReport{}
		// Both have all that is on the way to the field; b another value at its end.
		reach(reflect.ValueOf(a).Elem(), path, false)
		reach(reflect.ValueOf(b).Elem(), path, true)
		quiet := slices.Contains(silent, path)
		if quiet {
			seen = append(seen, path)
		}
		if got := sameNews(a, b); got != quiet {
			t.Errorf("%s: the same news is %t", path, got)
		}
		if !sameNews(a, a) || !sameNews(b, b) {
			t.Errorf("%s: a report is news to itself", path)
		}
	})
	if len(seen) != len(silent) {
		t.Errorf("of the silent fields there are %v", seen)
	}
	a := &resource.ServerReport{Server: "n1"}
	if sameNews(nil, a) || sameNews(a, nil) {
		t.Error("the first report is no news")
	}
}

// each calls do with the path of every value in a type, through pointers and to the first
// element of lists.
func each(of reflect.Type, path string, do func(path string)) {
	switch {
	case of == reflect.TypeFor[time.Time](), of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Uint8:
		do(path)
	case of.Kind() == reflect.Struct:
		for f := range of.Fields() {
			if f.Anonymous || f.IsExported() {
				each(f.Type, path+"."+f.Name, do)
			}
		}
	case of.Kind() == reflect.Pointer:
		each(of.Elem(), path+"*", do)
	case of.Kind() == reflect.Slice:
		each(of.Elem(), path+"#", do)
	case of.Kind() == reflect.Map || of.Kind() == reflect.Interface:
		// what is within is compared as a whole
	default:
		do(path)
	}
}

// reach makes the values on a path, and sets the one at its end to another than zero.
func reach(v reflect.Value, path string, set bool) {
	switch {
	case path == "" && !set:
	case path == "" && v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(1, 0)))
	case path == "":
		switch v.Kind() { //nolint:exhaustive // those that reports have
		case reflect.String:
			v.SetString("x")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int, reflect.Int64, reflect.Int32:
			v.SetInt(7)
		case reflect.Uint64, reflect.Uint32, reflect.Uint16, reflect.Uint8, reflect.Uint:
			v.SetUint(7)
		case reflect.Float64:
			v.SetFloat(7)
		case reflect.Slice:
			v.SetBytes([]byte("x"))
		default:
			panic(v.Kind())
		}
	case path[0] == '*':
		v.Set(reflect.New(v.Type().Elem()))
		reach(v.Elem(), path[1:], set)
	case path[0] == '#':
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		reach(v.Index(0), path[1:], set)
	default:
		end := 1
		for end < len(path) && path[end] != '.' && path[end] != '*' && path[end] != '#' {
			end++
		}
		reach(v.FieldByName(path[1:end]), path[end:], set)
	}
}
