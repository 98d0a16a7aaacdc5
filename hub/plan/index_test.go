package plan

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rackboot/protocol"
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
		x := f.Indexed()
		for _, s := range append(slices.Clone(f.Servers), serverOf("absent", "r0")) {
			name := s.Metadata.Name
			if f.server(name) != x.server(name) || f.bmc(s.Spec.BMCRef.Name) != x.bmc(s.Spec.BMCRef.Name) || f.RackOf(name) != x.RackOf(name) ||
				f.ClaimOf(name) != x.ClaimOf(name) || f.ConfigOf(f.ClaimOf(name)) != x.ConfigOf(x.ClaimOf(name)) || f.held(name) != x.held(name) {
				t.Fatalf("server %s differs", name)
			}
		}
	})
}

// TestFitTable compares the table above fit with it for every combination.
func TestFitTable(t *testing.T) {
	rows := tableOf(t, "compile.go", "able", "grant recorded", "provisioned", "boot", "lacks")
	for _, able := range []string{"no", "yes"} {
		for _, recorded := range []string{"no", "yes"} {
			for _, provisioned := range []string{"no", "yes"} {
				peer := Peer{Incarnation: "i", Capabilities: few()}
				in := protocol.ServerIntent{Boot: &protocol.BootIntent{GrantedBoot: protocol.GrantedBoot{BootSpec: protocol.BootSpec{BootPolicy: protocol.BootPolicy{FirstBoot: protocol.FirstBootUefiHTTP, Boot: protocol.BootHdd}, Grant: []byte("grant")}}}}
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
		{"an agent that cannot", Peer{"i", []protocol.Capability{protocol.CapBootHdd}}, "i", false},
	} {
		f := makeFleet(1, 1)
		f.Peers = map[string]Peer{"r0-1": c.peer}
		f.Requests = []Request{{protocol.Request{ID: "q", Server: "n0000", Action: protocol.RequestReboot, Incarnation: c.given}, "r0"}}
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
func few() []protocol.Capability {
	return []protocol.Capability{protocol.CapBootHdd, protocol.CapBootUefiHTTP, protocol.CapRequestReboot}
}
