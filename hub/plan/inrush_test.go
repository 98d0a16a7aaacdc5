package plan

import (
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// TestInrushTravels: the limit of a rack travels to its agent, with the feed of each server that has the label; an agent that
// does not know it is said to pass it over.
func TestInrushTravels(t *testing.T) {
	spec := &resource.InrushSpec{Servers: 3, Window: protocol.Duration(10 * time.Second), FeedLabel: "feed", FeedServers: 2}
	for _, row := range []struct {
		name string
		spec *resource.InrushSpec
		peer Peer
		told bool
	}{
		{"none", nil, Peer{Incarnation: "i"}, false},
		{"known", spec, Peer{Incarnation: "i", Capabilities: message.Capabilities()}, false},
		{"not known", spec, Peer{Incarnation: "i"}, true},
		{"never greeted", spec, Peer{}, false},
	} {
		f := makeFleet(1, 2)
		r := f.Racks[0]
		r.Spec.Inrush = row.spec
		f.Servers[0].Metadata.Labels = map[string]string{"feed": "a"}
		f.Peers = map[string]Peer{r.Status.Agent: row.peer}
		d := Compile(f)[r.Status.Agent]
		in, servers := d.Racks[0].Rack.Inrush, d.Racks[0].Servers
		if row.spec == nil {
			if in != nil || servers[0].Feed != "" {
				t.Errorf("%s: %+v, feed %q", row.name, in, servers[0].Feed)
			}
		} else if in == nil || *in != (message.InrushIntent{Servers: 3, FeedServers: 2, Window: 10 * time.Second}) || servers[0].Feed != "a" || servers[1].Feed != "" {
			t.Errorf("%s: %+v, feeds %q and %q", row.name, in, servers[0].Feed, servers[1].Feed)
		}
		if got := strings.Join(d.Unheeded["n0000"], " "); strings.Contains(got, "spec.inrush") != row.told {
			t.Errorf("%s: told %q", row.name, d.Unheeded)
		}
	}
}
