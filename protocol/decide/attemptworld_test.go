package decide

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// attempt wants of what follows an attempt in the record that its order is the same, that
// its course only grows, and that no mark of it fell.
func (x *witness) attempt(was, is *Attempt) {
	if was == nil || is == nil || was.ID != is.ID {
		return
	}
	if !reflect.DeepEqual(was.Order, is.Order) {
		x.t.Fatalf("the order of attempt %s changed:\n%+v\n%+v", is.ID, was.Order, is.Order)
	}
	if c := is.Stage.Course; !startsWith(c, was.Stage.Course) || len(c) > 0 && c[len(c)-1].State != is.Stage.State {
		x.t.Fatalf("attempt %s is %s, came through %v, and has the course %v", is.ID, is.Stage.State, was.Stage.Course, c)
	}
	if mark := fell(was.Marks, is.Marks); mark != "" {
		x.t.Fatalf("the mark %s of attempt %s fell:\n%+v\n%+v", mark, is.ID, was.Marks, is.Marks)
	}
}

// fell is the first mark that fell, or is of a type of which nobody knows what falling is; empty is
// that none did.
func fell(was, is Marks) string {
	a, b := reflect.ValueOf(was), reflect.ValueOf(is)
	for i := range a.NumField() {
		rises := false
		switch before := a.Field(i).Interface().(type) {
		case time.Time:
			rises = before.IsZero() || before.Equal(b.Field(i).Interface().(time.Time))
		case bool:
			rises = !before || b.Field(i).Bool()
		case int:
			rises = before <= int(b.Field(i).Int())
		case []IgnitionVerdict:
			rises = startsWith(b.Field(i).Interface().([]IgnitionVerdict), before)
		case []ReportVerdict:
			rises = startsWith(b.Field(i).Interface().([]ReportVerdict), before)
		}
		if !rises {
			return a.Type().Field(i).Name
		}
	}
	return ""
}

// startsWith reports whether a list begins with another.
func startsWith[E comparable](list, with []E) bool {
	return len(with) <= len(list) && slices.Equal(list[:len(with)], with)
}

// Each mark can fall, and is noticed then.
func TestMarksThatFall(t *testing.T) {
	all := Marks{
		Written: worldStart, Armed: worldStart, Asked: worldStart, Fetched: worldStart, Opened: true, Loaded: true, Served: true, Cached: true,
		Assumed: true, Announced: true, Given: true, Deliveries: 2, Refusals: []IgnitionVerdict{IgnitionOver},
		Unheeded: []ReportVerdict{ReportEarly},
	}
	if mark := fell(all, all); mark != "" {
		t.Errorf("%s fell in marks that stay", mark)
	}
	if mark := fell(Marks{}, all); mark != "" {
		t.Errorf("%s fell in marks that rise", mark)
	}
	for i := range reflect.TypeFor[Marks]().NumField() {
		is := all
		reflect.ValueOf(&is).Elem().Field(i).SetZero()
		if name := reflect.TypeFor[Marks]().Field(i).Name; fell(all, is) != name {
			t.Errorf("%s fell, and %q was noticed", name, fell(all, is))
		}
	}
}
