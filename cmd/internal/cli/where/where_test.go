package where

import (
	"testing"

	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

func site() Racks {
	return Racks{
		labels:   map[string]map[string]string{"r1": {"row": "7", "zone": "a"}},
		segments: map[string]string{"boot": "r1"},
		servers:  map[string]string{"n1": "boot"},
	}
}

// A label of the resource itself counts before that of its rack.
func TestLabelsOfTheRackCount(t *testing.T) {
	server := &resource.Server{Spec: resource.ServerSpec{SegmentRef: resource.Ref{Name: "boot"}}}
	server.Metadata.Labels = map[string]string{"row": "8", "own": ""}
	got := site().Labels(server)
	if len(got) != 3 || got["row"] != "8" || got["zone"] != "a" {
		t.Errorf("%v", got)
	}
	if len(server.Metadata.Labels) != 2 {
		t.Errorf("the server has got labels: %v", server.Metadata.Labels)
	}
	var none Racks
	if got := none.Labels(server); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

// What the hub says of a page counts, and says nothing of what was not in it.
func TestRacksOfAPage(t *testing.T) {
	r := Racks{labels: map[string]map[string]string{"r1": {"row": "7"}}}
	in, out, other := &resource.Claim{}, &resource.Claim{}, &resource.Claim{}
	r.Add(api.Page{Objects: []resource.Object{in, out}, Racks: []string{"r1", ""}})
	if r.Of(in) != "r1" || r.Of(out) != "" || r.Of(other) != "" || r.Labels(in)["row"] != "7" || len(r.Labels(out)) != 0 {
		t.Errorf("%q, %q, %q, %v, %v", r.Of(in), r.Of(out), r.Of(other), r.Labels(in), r.Labels(out))
	}
}
