package access

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rackboot/protocol/resource"
)

// world has rack r1 (site=a), BMC b1 with servers n1 (row=7) and n2 (site=b), and BMC
// b2 without one.
type world map[string]resource.Object

func find[T resource.Object](w world, name string) (out T) {
	out, _ = w[string(resource.KindOf[T]())+"/"+name].(T)
	return out
}

func (w world) Rack(name string) *resource.Rack     { return find[*resource.Rack](w, name) }
func (w world) BMC(name string) *resource.BMC       { return find[*resource.BMC](w, name) }
func (w world) Server(name string) *resource.Server { return find[*resource.Server](w, name) }

func (w world) Behind(bmc string) (out []*resource.Server) {
	for _, name := range []string{"n1", "n2"} {
		if s := w.Server(name); s != nil && s.Spec.BMCRef.Name == bmc {
			out = append(out, s)
		}
	}
	return out
}

func rack(name string, l Labels) *resource.Rack {
	r := &resource.Rack{}
	r.Metadata.Name, r.Metadata.Labels = name, l
	return r
}

func bmc(name, rack string) *resource.BMC {
	b := &resource.BMC{Spec: resource.BMCSpec{RackRef: resource.Ref{Name: rack}}}
	b.Metadata.Name = name
	return b
}

func server(name, bmc string, l Labels) *resource.Server {
	s := &resource.Server{Spec: resource.ServerSpec{BMCRef: resource.Ref{Name: bmc}}}
	s.Metadata.Name, s.Metadata.Labels = name, l
	return s
}

func small() world {
	return world{
		"Rack/r1": rack("r1", Labels{"site": "a"}), "BMC/b1": bmc("b1", "r1"), "BMC/b2": bmc("b2", "r1"),
		"Server/n1": server("n1", "b1", Labels{"row": "7"}), "Server/n2": server("n2", "b1", Labels{"site": "b"}),
	}
}

func TestPlaces(t *testing.T) {
	n1, n2, r1 := Labels{"site": "a", "row": "7"}, Labels{"site": "b"}, Labels{"site": "a"}
	claim := func(bound string, spec resource.ClaimSpec) *resource.Claim {
		return &resource.Claim{Spec: spec, Status: resource.ClaimStatus{Server: bound}}
	}
	named := resource.ClaimSpec{ServerRef: &resource.Ref{Name: "n2"}}
	selected := resource.ClaimSpec{ServerSelector: &resource.Selector{MatchLabels: Labels{"row": "9"}}}
	for _, row := range []struct {
		name string
		obj  resource.Object
		want []Labels
	}{
		{"a rack", rack("r9", Labels{"x": "y"}), []Labels{{"x": "y"}}},
		{"a rack without labels", rack("r9", nil), []Labels{{}}},
		{"a segment", &resource.Segment{Spec: resource.SegmentSpec{RackRef: resource.Ref{Name: "r1"}}}, []Labels{r1}},
		{"an agent", &resource.Agent{Spec: resource.AgentSpec{RackRef: resource.Ref{Name: "r1"}}}, []Labels{r1}},
		{"an agent of no rack", &resource.Agent{Spec: resource.AgentSpec{RackRef: resource.Ref{Name: "gone"}}}, []Labels{nil}},
		{"a BMC with servers", bmc("b1", "r1"), []Labels{n1, n2}},
		{"a BMC without", bmc("b2", "r1"), []Labels{r1}},
		{"a server that adds a label", small()["Server/n1"], []Labels{n1}},
		{"a server that says otherwise than its rack", small()["Server/n2"], []Labels{n2}},
		{"a claim with a server", claim("n1", named), []Labels{n1}},
		{"a claim that names one", claim("", named), []Labels{n2}},
		{"a claim that selects", claim("", selected), []Labels{{"row": "9"}}},
		{"a claim whose server is gone", claim("gone", selected), []Labels{nil}},
		{"a claim that names nothing", claim("", resource.ClaimSpec{}), []Labels{nil}},
		{"a hold", &resource.Hold{Spec: resource.HoldSpec{Server: "n1"}}, []Labels{n1}},
		{"a boot configuration", &resource.BootConfiguration{Spec: resource.BootConfigurationSpec{Server: "n2"}}, []Labels{n2}},
	} {
		if diff := cmp.Diff(row.want, Places(row.obj, small())); diff != "" {
			t.Errorf("%s (-want +got): %s", row.name, diff)
		}
	}
}

// What somebody with a scope may not do by a change.
func TestChanged(t *testing.T) {
	w := small()
	row7 := Caller{Roles: []Role{Operator}, Scope: Scope{MatchLabels: Labels{"row": "7"}}}
	siteA := Caller{Roles: []Role{Operator}, Scope: Scope{MatchLabels: Labels{"site": "a"}}}
	for _, row := range []struct {
		name      string
		by        Caller
		old, next resource.Object
		want      Verdict
	}{
		{"another spec", row7, w["Server/n1"], server("n1", "b1", Labels{"row": "7", "x": "y"}), Allowed},
		{"out of the scope", row7, w["Server/n1"], server("n1", "b1", Labels{"row": "8"}), DeniedScope},
		{"into the scope", row7, w["Server/n2"], server("n2", "b1", Labels{"row": "7"}), DeniedScope},
		{"a new server with the label, at a BMC of others", row7, nil, server("n3", "b1", Labels{"row": "7"}), DeniedScope},
		{"a new server with the label, at a free BMC", row7, nil, server("n3", "b2", Labels{"row": "7"}), DeniedScope},
		{"a new server with the label, at no BMC", row7, nil, server("n3", "gone", Labels{"row": "7"}), DeniedScope},
		{"a server that moves to a BMC outside", row7, w["Server/n1"], server("n1", "b2", Labels{"row": "7"}), DeniedScope},
		{"a new server in a rack of the scope", siteA, nil, server("n3", "b2", nil), Allowed},
		{"a BMC with a server of somebody else", siteA, bmc("b1", "r1"), bmc("b1", "r1"), DeniedScope},
		{"a new BMC in a rack of the scope", siteA, nil, bmc("b3", "r1"), Allowed},
		{"a rack that leaves", siteA, w["Rack/r1"], rack("r1", nil), DeniedScope},
		{"a claim for any server", row7, nil, &resource.Claim{Spec: resource.ClaimSpec{ServerSelector: &resource.Selector{MatchLabels: Labels{"gpu": "yes"}}}}, DeniedScope},
		{"a claim by an expression alone", row7, nil, &resource.Claim{Spec: resource.ClaimSpec{ServerSelector: &resource.Selector{MatchExpressions: []resource.SelectorExpression{{Key: "row", Operator: resource.SelectIn, Values: []string{"7", "8"}}}}}}, DeniedScope},
		{"a claim within, by an expression too", row7, nil, &resource.Claim{Spec: resource.ClaimSpec{ServerSelector: &resource.Selector{MatchLabels: Labels{"row": "7"}, MatchExpressions: []resource.SelectorExpression{{Key: "gpu", Operator: resource.SelectExists}}}}}, Allowed},
		{"a claim within", row7, nil, &resource.Claim{Spec: resource.ClaimSpec{ServerSelector: &resource.Selector{MatchLabels: Labels{"gpu": "yes", "row": "7"}}}}, Allowed},
	} {
		if got := May(row.by, Apply, Target{Changed(row.old, row.next, w)}); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}
