package resource

import (
	"reflect"
	"testing"

	"rackboot/protocol"
)

func TestKindOf(t *testing.T) {
	for got, want := range map[Kind]Kind{
		KindOf[*Rack](): KindRack, KindOf[*Segment](): KindSegment, KindOf[*BMC](): KindBMC, KindOf[*Server](): KindServer,
		KindOf[*Claim](): KindClaim, KindOf[*Agent](): KindAgent, KindOf[*BootConfiguration](): KindBootConfiguration, KindOf[*Hold](): KindHold,
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Every kind knows its own kind, has a plural, and refers only to kinds that
// are applied before it.
func TestKindTable(t *testing.T) {
	order := map[Kind]int{}
	for i, k := range Kinds() {
		order[k] = i
	}
	for i, k := range Kinds() {
		obj := NewObject(k)
		obj.Default()
		if h := obj.Head(); h.Kind != k || h.APIVersion != APIVersion || k.Plural() == "" {
			t.Errorf("%s: %+v", k, h)
		}
		if got := KindOfType(obj); got != k {
			t.Errorf("the type of %s is of kind %q", k, got)
		}
		if got, ok := ParseKind(k.Plural()); !ok || got != k {
			t.Errorf("plural of %s is parsed as %q", k, got)
		}
		if c, ok := obj.(*Claim); ok {
			c.Spec.ServerRef = &Ref{}
		}
		if r, ok := obj.(Referrer); ok {
			for _, ref := range r.References() {
				if order[ref.Kind] >= i {
					t.Errorf("%s refers to %s, which comes after it", k, ref.Kind)
				}
			}
		}
		if typ := reflect.TypeOf(obj); typ.Kind() != reflect.Pointer {
			t.Errorf("%s is made as %s", k, typ)
		}
	}
}

// Fields of a list are named with their index, so that they have a line.
func TestFieldErrorsNameTheItem(t *testing.T) {
	s := &Server{Spec: ServerSpec{MACs: []string{"52:54:00:00:00:01", "x"}}}
	seg := &Segment{Spec: SegmentSpec{Routers: []string{"x"}, DNS: []string{"10.0.0.1", "::1"}}}
	for path, f := range map[string]protocol.FieldErrors{"spec.macs[1]": s.Validate(), "spec.routers[0]": seg.Validate(), "spec.dns[1]": seg.Validate()} {
		found := false
		for _, e := range f {
			found = found || e.Path == path
		}
		if !found {
			t.Errorf("no error at %s: %v", path, f)
		}
	}
}
