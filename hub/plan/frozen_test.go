package plan

import (
	"testing"
	"time"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func freezeOf(name string, spec resource.FreezeSpec) *resource.Freeze {
	z := &resource.Freeze{Spec: spec, Status: resource.FreezeStatus{By: "ops"}}
	z.Metadata.Name, z.Spec.Reason = name, "why "+name
	return z
}

// TestFrozen: which freeze lies on a server of rack r1 with row=7, at noon.
func TestFrozen(t *testing.T) {
	noon := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	at := func(h int) *time.Time { u := noon.Add(time.Duration(h) * time.Hour); return &u }
	row := func(v string) *resource.Selector { return &resource.Selector{MatchLabels: map[string]string{"row": v}} }
	s := &resource.Server{}
	s.Metadata.Name, s.Metadata.Labels = "n1", map[string]string{"row": "7"}
	for _, c := range []struct {
		name string
		all  []*resource.Freeze
		want string
	}{
		{"none", nil, ""},
		{"its rack's", []*resource.Freeze{freezeOf("a", resource.FreezeSpec{RackRef: &resource.Ref{Name: "r1"}})}, "a"},
		{"another rack's", []*resource.Freeze{freezeOf("a", resource.FreezeSpec{RackRef: &resource.Ref{Name: "r2"}})}, ""},
		{"its row's", []*resource.Freeze{freezeOf("a", resource.FreezeSpec{ServerSelector: row("7")})}, "a"},
		{"another row's", []*resource.Freeze{freezeOf("a", resource.FreezeSpec{ServerSelector: row("8")})}, ""},
		{"of all", []*resource.Freeze{freezeOf("a", resource.FreezeSpec{All: true})}, "a"},
		{"over", []*resource.Freeze{freezeOf("a", resource.FreezeSpec{All: true, Until: at(0)})}, ""},
		{"the one that ends last", []*resource.Freeze{
			freezeOf("a", resource.FreezeSpec{All: true, Until: at(1)}), freezeOf("b", resource.FreezeSpec{All: true, Until: at(3)}), freezeOf("c", resource.FreezeSpec{All: true, Until: at(2)}),
		}, "b"},
		{"never is last", []*resource.Freeze{
			freezeOf("a", resource.FreezeSpec{All: true, Until: at(1)}), freezeOf("b", resource.FreezeSpec{ServerSelector: row("7")}), freezeOf("c", resource.FreezeSpec{All: true}),
		}, "b"},
	} {
		got := Frozen(c.all, s, "r1", noon)
		if c.want == "" && got != nil || c.want != "" && (got == nil || got.Name != c.want || got.By != "ops" || got.Reason != "why "+c.want) {
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		}
	}
}

// TestUnfrozen: an agent that knows no freezes is said to pass it over; one that was never greeted is not judged.
func TestUnfrozen(t *testing.T) {
	in := message.ServerIntent{Frozen: &resource.Frozen{Name: "z"}}
	old, known := Peer{Incarnation: "i"}, Peer{Incarnation: "i", Capabilities: []message.Capability{message.CapFreeze}}
	if len(unfrozen(in, old)) != 1 || len(unfrozen(in, known)) != 0 || len(unfrozen(in, Peer{})) != 0 || len(unfrozen(message.ServerIntent{}, old)) != 0 {
		t.Errorf("%v, %v", unfrozen(in, old), unfrozen(in, known))
	}
}
