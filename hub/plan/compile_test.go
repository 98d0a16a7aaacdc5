package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func named[T resource.Object](o T, name string) T {
	o.Head().Metadata.Name, o.Head().Metadata.UID = name, "uid-"+name
	o.Default()
	return o
}

// makeFleet makes racks r0, r1 … with an agent each and servers dealt out to them.
func makeFleet(racks, servers int) Fleet {
	var f Fleet
	for i := range racks {
		name := fmt.Sprintf("r%d", i)
		f.Racks = append(f.Racks, named(&resource.Rack{Status: resource.RackStatus{Agent: name + "-1", Term: 1}}, name))
		f.BMCs = append(f.BMCs, named(&resource.BMC{Spec: resource.BMCSpec{RackRef: resource.Ref{Name: name}, Address: "https://10.7.0.2"}}, "b-"+name))
	}
	for i := range servers {
		f.Servers = append(f.Servers, serverOf(fmt.Sprintf("n%04d", i), f.Racks[i%racks].Metadata.Name))
	}
	return f
}

func serverOf(name, rack string) *resource.Server {
	return named(&resource.Server{Spec: resource.ServerSpec{BMCRef: resource.Ref{Name: "b-" + rack}}}, name)
}

func holdOn(id, server, rack string, released bool) *resource.Hold {
	h := named(&resource.Hold{Spec: resource.HoldSpec{Server: server, HoldTerms: resource.HoldTerms{Key: "k"}}, Status: resource.HoldStatus{Rack: rack}}, id)
	if released {
		at := time.Unix(1000, 0)
		h.Status.ReleasedAt = &at
	}
	return h
}

// claimOf binds a claim with its configuration.
func (f *Fleet) claimOf(name, server string) {
	f.Claims = append(f.Claims, named(&resource.Claim{Spec: resource.ClaimSpec{Power: resource.WantOn}, Status: resource.ClaimStatus{Server: server}}, name))
	f.Configs = append(f.Configs, named(&resource.BootConfiguration{
		Spec:   resource.BootConfigurationSpec{Server: server, Owner: resource.Owner{Name: name, UID: "uid-" + name}, BootSpec: resource.BootSpec{Grant: []byte("grant of " + name)}},
		Status: resource.BootConfigurationStatus{SignedProvisioned: []byte("record of " + name)},
	}, name))
}

// drawFleet makes a fleet with claims, holds and requests.
func drawFleet(t *rapid.T) Fleet {
	f := makeFleet(rapid.IntRange(1, 3).Draw(t, "racks"), rapid.IntRange(0, 160).Draw(t, "servers"))
	for i, s := range f.Servers {
		switch rapid.IntRange(0, 5).Draw(t, "state") {
		case 0:
			f.claimOf(fmt.Sprintf("c%04d", i), s.Metadata.Name)
		case 1:
			f.Holds = append(f.Holds, holdOn(fmt.Sprintf("h%04d", i), s.Metadata.Name, f.RackOf(s.Metadata.Name), rapid.Bool().Draw(t, "released")))
		}
	}
	return f
}

func encode(t interface{ Fatal(...any) }, v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The same fleet gives the same bytes, in whatever order its resources were made:
// the store lists them by name.
func TestCompileIsDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFleet(t)
		g := f
		g.Racks, g.Servers = rapid.Permutation(f.Racks).Draw(t, "racks"), rapid.Permutation(f.Servers).Draw(t, "servers")
		g.Claims, g.Holds = rapid.Permutation(f.Claims).Draw(t, "claims"), rapid.Permutation(f.Holds).Draw(t, "holds")
		g.BMCs, g.Configs = rapid.Permutation(f.BMCs).Draw(t, "bmcs"), rapid.Permutation(f.Configs).Draw(t, "configs")
		byName(g.Racks)
		byName(g.Servers)
		byName(g.Claims)
		byName(g.Holds)
		byName(g.BMCs)
		byName(g.Configs)
		if diff := cmp.Diff(encode(t, Compile(f)), encode(t, Compile(g))); diff != "" {
			t.Fatal(diff)
		}
	})
}

func byName[T resource.Object](list []T) {
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(a.Head().Metadata.Name, b.Head().Metadata.Name) })
}

// placed says in which shard of which agent each server travels.
func placed(t interface{ Fatalf(string, ...any) }, docs map[string]Documents) map[string]string {
	out := map[string]string{}
	for agent, d := range docs {
		for i, doc := range d.Racks {
			if doc.Shard != i || doc.Shards != len(d.Racks) || doc.Agent != agent || (doc.Rack != nil) != (i == 0) {
				t.Fatalf("shard %d of %s is %d of %d, for %s, with the rack: %t", i, agent, doc.Shard, doc.Shards, doc.Agent, doc.Rack != nil)
			}
			if len(doc.Servers) > message.MaxServersPerShard {
				t.Fatalf("%d servers in one shard", len(doc.Servers))
			}
			for _, s := range doc.Servers {
				if was, twice := out[s.Server]; twice {
					t.Fatalf("%s is in %s and in %s/%d", s.Server, was, agent, i)
				}
				out[s.Server] = fmt.Sprintf("%s/%d", agent, i)
			}
		}
	}
	return out
}

// Every server travels once, in a shard of at most 50, and stays in it whatever
// comes and goes beside it: documents arrive in any order (P10), and a server that
// moved would be missing from both until the second arrives (P8).
func TestServersStayInTheirShard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := makeFleet(1, rapid.IntRange(0, 160).Draw(t, "servers"))
		for round := range 3 {
			was := placed(t, Compile(f))
			if len(was) != len(f.Servers) {
				t.Fatalf("%d of %d servers travel", len(was), len(f.Servers))
			}
			f.Made.Shards = map[string]int{}
			for name, at := range was {
				var shard int
				if _, err := fmt.Sscanf(at, "r0-1/%d", &shard); err != nil {
					t.Fatal(err)
				}
				f.Made.Shards[name] = shard
			}
			f.Servers = slices.DeleteFunc(slices.Clone(f.Servers), func(*resource.Server) bool { return rapid.IntRange(0, 3).Draw(t, "leaves") == 0 })
			for i := range rapid.IntRange(0, 60).Draw(t, "come") {
				f.Servers = append(f.Servers, serverOf(fmt.Sprintf("a%d-%d", round, i), "r0"))
			}
			byName(f.Servers)
			for name, at := range placed(t, Compile(f)) {
				if before, stayed := was[name]; stayed && before != at {
					t.Fatalf("%s moved from %s to %s", name, before, at)
				}
			}
		}
	})
}

// A hold and its release travel to the rack in which the hold was placed, also
// when the server is not at the hub any more (P1).
func TestHoldsTravel(t *testing.T) {
	for _, c := range []struct {
		name     string
		hold     *resource.Hold
		holds    string
		releases string
	}{
		{"held", holdOn("h", "n0000", "r0", false), "r0-1", ""},
		{"released", holdOn("h", "n0000", "r0", true), "", "r0-1"},
		{"of a server that is gone", holdOn("h", "gone", "r1", false), "r1-1", ""},
		{"released, of a server that is gone", holdOn("h", "gone", "r1", true), "", "r1-1"},
		{"of a server that is in another rack now", holdOn("h", "n0001", "r0", true), "", "r0-1"},
	} {
		f := makeFleet(2, 2)
		f.Holds = []*resource.Hold{c.hold}
		holds, releases := "", ""
		for agent, d := range Compile(f) {
			if len(d.Holds.Holds) > 0 {
				holds += agent
			}
			if len(d.Holds.Releases) > 0 {
				releases += agent
			}
		}
		if holds != c.holds || releases != c.releases {
			t.Errorf("%s: hold to %q, release to %q; want %q and %q", c.name, holds, releases, c.holds, c.releases)
		}
	}
}

// Intent carries a claim's grant and echo only while the claim lasts, only for its
// own server, and never without a claim (P4).
func TestIntent(t *testing.T) {
	at := time.Unix(1000, 0)
	for _, c := range []struct {
		name   string
		change func(*Fleet)
		power  resource.Power
		boot   bool
	}{
		{"no claim", func(f *Fleet) { f.Claims, f.Configs = nil, nil }, "", false},
		{"claimed", func(*Fleet) {}, resource.WantOn, true},
		{"image not validated", func(f *Fleet) { f.Configs = nil }, resource.WantOn, false},
		{"releasing", func(f *Fleet) { f.Claims[0].Metadata.DeletedAt = &at }, resource.WantOff, false},
		{"a configuration of an earlier claim of that name", func(f *Fleet) { f.Configs[0].Spec.Owner.UID = "earlier" }, resource.WantOn, false},
		{"a configuration for another server", func(f *Fleet) { f.Configs[0].Spec.Server = "n0001" }, resource.WantOn, false},
	} {
		f := makeFleet(1, 2)
		f.claimOf("c", "n0000")
		c.change(&f)
		in := Intent(f, f.Servers[0])
		if in.Power != c.power || (in.Boot != nil) != c.boot {
			t.Errorf("%s: power %q, boot %+v", c.name, in.Power, in.Boot)
		}
		if in.Boot != nil && (string(in.Boot.Grant) != "grant of c" || string(in.Boot.Provisioned) != "record of c" || in.Boot.Owner.UID != in.Owner.UID) {
			t.Errorf("%s: %+v", c.name, in.Boot)
		}
		if other := Intent(f, f.Servers[1]); other.Boot != nil || other.Owner.UID != "" {
			t.Errorf("%s: the other server gets %+v", c.name, other)
		}
	}
}

// A server whose BMC is told the URL is said so to its agent, for the methods that have one.
func TestIntentReach(t *testing.T) {
	for _, c := range []struct {
		reach resource.Reach
		boot  resource.FirstBoot
		want  resource.Reach
	}{
		{resource.ReachURI, resource.FirstBootUefiHTTP, resource.ReachURI},
		{resource.ReachURI, resource.FirstBootVirtualMedia, ""},
		{resource.ReachSegment, resource.FirstBootUefiHTTP, ""},
		{"", resource.FirstBootUefiHTTP, ""},
		{resource.ReachVMedia, resource.FirstBootVirtualMedia, ""},
	} {
		f := makeFleet(1, 2)
		f.claimOf("c", "n0000")
		f.Servers[0].Spec.Reach, f.Configs[0].Spec.BootPolicy.FirstBoot = c.reach, c.boot
		if in := Intent(f, f.Servers[0]); in.Boot == nil || in.Boot.Reach != c.want {
			t.Errorf("%s by %s: %+v", c.reach, c.boot, in.Boot)
		}
	}
}

// No two claims get one server, whatever is claimed already.
func TestBindGivesAServerOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := makeFleet(1, rapid.IntRange(1, 6).Draw(t, "servers"))
		f.Reports = map[string]*resource.ServerReport{}
		for _, s := range f.Servers {
			s.Metadata.Labels = map[string]string{"x": "y"}
			power := rapid.SampledFrom([]protocol.PowerState{protocol.PowerOff, protocol.PowerOn}).Draw(t, "power")
			f.Reports[s.Metadata.Name] = &resource.ServerReport{Observation: protocol.Observation{Power: power}}
		}
		owner := map[string]string{}
		for i := range rapid.IntRange(0, 8).Draw(t, "claims") {
			c := named(&resource.Claim{}, fmt.Sprintf("c%d", i))
			server := rapid.SampledFrom(f.Servers).Draw(t, "server").Metadata.Name
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				c.Spec.ServerRef = &resource.Ref{Name: server}
			case 1:
				c.Spec.ServerSelector = &resource.Selector{MatchLabels: map[string]string{"x": "y"}}
			case 2:
				c.Spec.ServerRef = &resource.Ref{Name: server}
				if owner[server] == "" {
					owner[server], c.Status.Server = c.Metadata.Name, server
				}
			}
			f.Claims = append(f.Claims, c)
		}
		f.Wanting = f.Claims
		bindings, unbound := Bind(f)
		for _, b := range bindings {
			if was := owner[b.Server]; was != "" {
				t.Fatalf("%s goes to %s and to %s", b.Server, was, b.Claim)
			}
			owner[b.Server] = b.Claim
		}
		bound := 0
		for _, c := range f.Claims {
			if c.Status.Server != "" {
				bound++
			}
		}
		if bound+len(bindings)+len(unbound) != len(f.Claims) {
			t.Fatalf("%d bound, %d bindings, %d unbound of %d claims", bound, len(bindings), len(unbound), len(f.Claims))
		}
	})
}

// The hold documents alone are those of the whole compilation.
func TestCompileHolds(t *testing.T) {
	f := makeFleet(3, 9)
	for i, s := range f.Servers {
		f.Holds = append(f.Holds, holdOn(fmt.Sprintf("h%d", i), s.Metadata.Name, f.RackOf(s.Metadata.Name), i%2 == 0))
	}
	whole := Compile(f)
	got := CompileHolds(Fleet{Racks: f.Racks, Holds: f.Holds, Requests: f.Requests, Peers: f.Peers})
	if len(got) != len(whole) || len(got) == 0 {
		t.Fatalf("%d documents of %d", len(got), len(whole))
	}
	for agent, d := range whole {
		if n := len(d.Holds.Holds) + len(d.Holds.Releases); n != 3 || !cmp.Equal(got[agent], d.Holds) {
			t.Errorf("%s: %s", agent, cmp.Diff(d.Holds, got[agent]))
		}
	}
}
