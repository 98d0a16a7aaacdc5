package plan

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// The index answers as the scans do, also where keys dangle or come twice.
func TestIndexedAnswersAsScan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFleet(t)
		f.Servers = append(f.Servers, serverOf("dangling", "nowhere"))
		if len(f.Claims) > 0 {
			twice := *f.Claims[0]
			f.Claims = append(f.Claims, &twice)
			other := *f.Configs[0]
			f.Configs = append(f.Configs, &other)
		}
		for i, c := range f.Claims {
			if rapid.Bool().Draw(t, "of the group") {
				own, cfg := *c, *f.Configs[i]
				own.Spec.ImageFrom, cfg.Spec.Group = &resource.ImageFrom{Group: "g"}, "g"
				f.Claims[i], f.Configs[i] = &own, &cfg
			}
		}
		word := func(what string) string { return rapid.SampledFrom([]string{"1", "2"}).Draw(t, what) }
		for i, s := range f.Servers {
			own := *s
			own.Metadata.Labels = map[string]string{"a": word("a"), "b": word("b")}
			f.Servers[i] = &own
		}
		for _, labels := range []map[string]string{{"a": "1"}, {"a": word("a"), "b": word("b")}} {
			f.Groups = append(f.Groups, &resource.ServerGroup{Spec: resource.ServerGroupSpec{Selector: resource.Selector{MatchLabels: labels}}})
		}
		expressions := func(op resource.SelectorOperator, values ...string) resource.Selector {
			return resource.Selector{MatchExpressions: []resource.SelectorExpression{{Key: "a", Operator: op, Values: values}}}
		}
		if rapid.Bool().Draw(t, "by expressions") {
			f.Groups = append(f.Groups, &resource.ServerGroup{Spec: resource.ServerGroupSpec{Selector: expressions(resource.SelectIn, word("in"))}})
		}
		x := f.Indexed()
		for _, s := range append(slices.Clone(f.Servers), serverOf("absent", "r0")) {
			name := s.Metadata.Name
			if f.server(name) != x.server(name) || f.bmc(s.Spec.BMCRef.Name) != x.bmc(s.Spec.BMCRef.Name) || f.RackOf(name) != x.RackOf(name) ||
				f.ClaimOf(name) != x.ClaimOf(name) || f.ConfigOf(f.ClaimOf(name)) != x.ConfigOf(x.ClaimOf(name)) || f.held(name) != x.held(name) {
				t.Fatalf("server %s differs", name)
			}
			same(t, "holds on "+name, x.HoldsOn(name), f.Holds, func(h *resource.Hold) bool { return h.Spec.Server == name && h.Status.ReleasedAt == nil })
		}
		for _, rack := range []string{"", "r0", "r1", "absent"} {
			in := func(server string) bool { return f.RackOf(server) == rack }
			same(t, "servers in "+rack, x.ServersIn(rack), f.Servers, func(s *resource.Server) bool { return in(s.Metadata.Name) })
			same(t, "BMCs in "+rack, x.bmcsIn(rack), f.BMCs, func(b *resource.BMC) bool { return b.Spec.RackRef.Name == rack })
			same(t, "claims in "+rack, x.ClaimsIn(rack), f.Claims, func(c *resource.Claim) bool { return c.Status.Server != "" && in(c.Status.Server) })
			same(t, "maintenances in "+rack, x.MaintenancesIn(rack), f.Maintenances, func(m *resource.Maintenance) bool { return in(m.Spec.ServerRef.Name) })
			same(t, "holds in "+rack, x.HoldsIn(rack), f.Holds, func(h *resource.Hold) bool { return h.Status.Rack == rack })
			if f.Rack(rack) != x.Rack(rack) {
				t.Fatalf("rack %q differs", rack)
			}
		}
		for _, labels := range []map[string]string{nil, {"a": "1"}, {"a": "1", "b": "1"}, {"b": "2"}, {"c": "1"}} {
			same(t, fmt.Sprintf("servers with %v", labels), x.Selected(resource.Selector{MatchLabels: labels}), f.Servers, func(s *resource.Server) bool {
				return resource.Selector{MatchLabels: labels}.Matches(s.Metadata.Labels)
			})
		}
		both := expressions(resource.SelectNotIn, "1")
		both.MatchLabels = map[string]string{"b": "2"}
		for _, by := range []resource.Selector{expressions(resource.SelectIn, "1", "3"), expressions(resource.SelectNotIn, "1"), expressions(resource.SelectExists), expressions(resource.SelectDoesNotExist), both} {
			same(t, "servers with "+by.String(), x.Selected(by), f.Servers, func(s *resource.Server) bool { return by.Matches(s.Metadata.Labels) })
		}
		for _, s := range f.Servers {
			selecting := slices.DeleteFunc(slices.Clone(f.Groups), func(g *resource.ServerGroup) bool { return !g.Spec.Selector.Matches(s.Metadata.Labels) })
			if of := groupOf(x, s); (of != nil) != (len(selecting) == 1) || of != nil && of != selecting[0] {
				t.Fatalf("the group of %s: %v of %v", s.Metadata.Name, of, selecting)
			}
		}
		for _, name := range []string{"g", "absent"} {
			same(t, "claims that take "+name, x.ClaimsTaking(name), f.Claims, func(c *resource.Claim) bool { return c.Spec.ImageFrom != nil && c.Spec.ImageFrom.Group == name })
			same(t, "configurations of "+name, x.ConfigsOf(name), f.Configs, func(b *resource.BootConfiguration) bool { return b.Spec.Group == name })
		}
	})
}

// same compares what is found with what a walk finds.
func same[T comparable](t *rapid.T, what string, got, all []T, want func(T) bool) {
	walked := slices.DeleteFunc(slices.Clone(all), func(v T) bool { return !want(v) })
	if !slices.Equal(got, walked) {
		t.Fatalf("%s: %v; a walk finds %v", what, got, walked)
	}
}

// TestFitTable compares the table above fit with it for every combination.
func TestFitTable(t *testing.T) {
	rows := tableOf(t, "compile.go", "able", "grant recorded", "provisioned", "boot", "lacks")
	for _, able := range []string{"no", "yes"} {
		for _, recorded := range []string{"no", "yes"} {
			for _, provisioned := range []string{"no", "yes"} {
				peer := Peer{Incarnation: "i", Capabilities: few()}
				in := message.ServerIntent{Boot: &message.BootIntent{GrantedBoot: resource.GrantedBoot{BootSpec: resource.BootSpec{BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP, Boot: resource.BootHdd}, Grant: []byte("grant")}}}}
				if able == "no" {
					peer.Capabilities = nil
				}
				if recorded == "yes" {
					in.Boot.GrantFor = "i"
				}
				if provisioned == "yes" {
					in.Boot.Provisioned = []byte("record")
				}
				lacks := fit(&in, peer)
				got := []string{"none", "no"}
				switch {
				case in.Boot != nil && len(in.Boot.Grant) > 0:
					got[0] = "whole"
				case in.Boot != nil:
					got[0] = "without grant"
				}
				if len(lacks) > 0 {
					got[1] = "yes"
				}
				if want := rowOf(t, rows, able, recorded, provisioned); !slices.Equal(got, want) {
					t.Errorf("able %s, recorded %s, provisioned %s: %v, the table says %v", able, recorded, provisioned, got, want)
				}
			}
		}
	}
}

// A request travels to the database that it was given to, and to no other (P9).
func TestRequestsTravel(t *testing.T) {
	for _, c := range []struct {
		name    string
		peer    Peer
		given   string
		travels bool
	}{
		{"given", Peer{"i", few()}, "i", true},
		{"not given yet", Peer{"i", few()}, "", false},
		{"given to another disk", Peer{"i", few()}, "j", false},
		{"an agent that is not known", Peer{}, "", false},
		{"an agent that cannot", Peer{"i", []message.Capability{message.CapBootHdd}}, "i", false},
	} {
		f := makeFleet(1, 1)
		f.Peers = map[string]Peer{"r0-1": c.peer}
		f.Requests = []Request{{resource.Request{ID: "q", Server: "n0000", Action: resource.RequestReboot, Incarnation: c.given}, "r0"}}
		d := Compile(f)["r0-1"]
		if (len(d.Holds.Requests) == 1) != c.travels {
			t.Errorf("%s: %v", c.name, d.Holds.Requests)
		}
	}
}

// No grant travels to an agent whose database is not known (P4).
func TestGrantNeedsAKnownDisk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFleet(t)
		f.Peers = map[string]Peer{}
		for i := range f.Racks {
			if rapid.Bool().Draw(t, "known") {
				f.Peers[fmt.Sprintf("r%d-1", i)] = Peer{"i", few()}
			}
		}
		for _, b := range f.Configs {
			b.Status.GrantFor = rapid.SampledFrom([]string{"", "i", "j"}).Draw(t, "for")
		}
		for agent, d := range Compile(f) {
			for _, doc := range d.Racks {
				for _, s := range doc.Servers {
					if s.Boot != nil && len(s.Boot.Grant) > 0 && (f.Peers[agent].Incarnation == "" || s.Boot.GrantFor == "") {
						t.Fatalf("%s is told %+v", agent, s.Boot)
					}
				}
			}
		}
	})
}

// few is what an agent can that lacks most capabilities.
func few() []message.Capability {
	return []message.Capability{message.CapBootHdd, message.CapBootUefiHTTP, message.CapRequestReboot}
}
