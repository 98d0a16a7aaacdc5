package plan

import (
	"testing"
	"time"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Only an agent that can upgrade itself is told to, of its own order, while that is open and its package is there.
func TestUpgradeIntent(t *testing.T) {
	at := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		can, packaged, ordered, ended bool
		want                          bool
	}{
		"an order":                {can: true, packaged: true, ordered: true, want: true},
		"an agent that cannot":    {packaged: true, ordered: true},
		"no order":                {can: true, packaged: true},
		"an order that has ended": {can: true, packaged: true, ordered: true, ended: true},
		"a package that is gone":  {can: true, ordered: true},
	} {
		a := named(&resource.Agent{}, "a1")
		if c.ordered {
			a.Status.Order = &resource.AgentOrder{ID: "o1", Package: "p1", NotAfter: at}
		}
		if c.ended {
			a.Status.Order.EndedAt = &at
		}
		f := Fleet{Agents: []*resource.Agent{a}, Peers: map[string]Peer{"a1": {}}}
		if c.can {
			f.Peers["a1"] = Peer{Capabilities: []message.Capability{message.CapUpgrade}}
		}
		if c.packaged {
			f.Made.Packages = map[string][]byte{"p1": []byte("manifest")}
		}
		f = f.Indexed()
		got := upgradeIntent(f, "a1")
		if (got != nil) != c.want || got != nil && (got.Order != "o1" || string(got.Manifest) != "manifest" || !got.NotAfter.Equal(at)) {
			t.Errorf("%s: %+v", name, got)
		}
		if upgradeIntent(f, "a2") != nil {
			t.Errorf("%s: another agent is told", name)
		}
	}
}
