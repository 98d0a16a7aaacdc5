package plan

import (
	"strings"
	"testing"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// withStandby is a fleet of one rack with an agent that stands by, whose documents have all that only the rack's own
// agent may do or open.
func withStandby(caps []message.Capability) Fleet {
	f := makeFleet(1, 60)
	r := f.Racks[0]
	r.Status.Standby = "r0-2"
	f.Agents = []*resource.Agent{named(&resource.Agent{Spec: resource.AgentSpec{RackRef: resource.Ref{Name: "r0"}, Term: 2}}, "r0-2")}
	f.Peers = map[string]Peer{"r0-1": {Incarnation: "i1", Capabilities: message.Capabilities()}, "r0-2": {Incarnation: "i2", Capabilities: caps}}
	f.claimOf("c", "n0000")
	f.claimOf("e", "n0001")
	c := f.Configs[0]
	c.Status.GrantFor, f.Configs[1].Status.GrantFor = "i1", "i1"
	c.Spec.BootPolicy.Boot = resource.BootHdd
	f.Configs[1].Spec.BootEnv = "debian"
	f.Made.Envs = map[string]message.EnvIntent{"e": {Name: "debian", Sealed: "sha256:secret"}}
	f.Made.Ignitions = map[string]message.IgnitionIntent{"c": {Sealed: "sha256:secret"}}
	f.Made.Sealed = map[string]*message.SealedCredentials{"b-r0": {Secret: "bmc", Ciphertext: []byte("secret")}}
	f.Made.Approvals = map[string][][]byte{"r0": {[]byte("approval")}}
	f.Holds = []*resource.Hold{holdOn("h1", "n0000", "r0", false), holdOn("h2", "n0001", "r0", true)}
	f.Requests = []Request{{Rack: "r0", Request: resource.Request{ID: "q", Server: "n0000", Action: resource.RequestReboot, Incarnation: "i1"}}}
	return f
}

// TestStandbyHasNoSecrets: who stands by has every server and every hold, and nothing that it could act by or open.
func TestStandbyHasNoSecrets(t *testing.T) {
	docs := Compile(withStandby(message.Capabilities()))
	own, other := docs["r0-1"], docs["r0-2"]
	all := encode(t, other)
	for _, secret := range []string{"secret", "grant of", "approval", "i1"} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is in the documents of the standby", secret)
		}
	}
	for _, there := range []string{"grant", "sealed", "approvals"} {
		if whole := encode(t, own); !strings.Contains(whole, there) {
			t.Fatalf("%q is not in the documents of the rack's agent, and the test shows nothing", there)
		}
	}
	if h := other.Holds; !h.Standby || h.Agent != "r0-2" || h.Term != 2 || len(h.Holds) != 2 || len(h.Requests)+len(h.Releases) != 0 {
		t.Errorf("hold document %+v", h)
	}
	servers := 0
	for i, d := range other.Racks {
		servers += len(d.Servers)
		if d.Agent != "r0-2" || d.Term != 2 || d.Shard != own.Racks[i].Shard || d.Shards != own.Racks[i].Shards || (d.Rack != nil) != (i == 0) || i == 0 && !d.Rack.Standby {
			t.Errorf("shard %d: %+v", i, d.Rack)
		}
	}
	if servers != 60 || len(other.Racks) != len(own.Racks) {
		t.Errorf("%d servers in %d shards", servers, len(other.Racks))
	}
	if own.Racks[0].Rack.Standby || own.Holds.Standby {
		t.Error("the rack's agent stands by")
	}
	// The documents of the rack's agent are not changed by those of the other.
	if twin := own.Racks[0].Rack.Twin; twin == nil || twin.Agent != "r0-2" || own.Racks[0].Rack.Standby {
		t.Errorf("the twin of the rack's agent is %+v", twin)
	}
	own.Racks[0].Rack.Twin = nil
	without := withStandby(message.Capabilities())
	without.Racks[0].Status.Standby = ""
	if a, b := encode(t, own), encode(t, Compile(without)["r0-1"]); a != b {
		t.Errorf("with a standby\n%s\nwithout\n%s", a, b)
	}
}

// TestStandbyTooOld: an agent that would not heed that it stands by is sent nothing; without an agent of its own the rack
// keeps its standby in step.
func TestStandbyTooOld(t *testing.T) {
	if docs := Compile(withStandby(nil)); len(docs) != 1 {
		t.Errorf("documents for %d agents", len(docs))
	}
	f := withStandby(message.Capabilities())
	f.Racks[0].Status.Agent = ""
	if docs := Compile(f); len(docs) != 1 || !docs["r0-2"].Holds.Standby {
		t.Errorf("without an agent: %d", len(docs))
	}
	f = withStandby(message.Capabilities())
	f.Racks[0].Status.TakenOver = []resource.TakenOver{{Agent: "r0-0"}, {Agent: "r0-9"}}
	if in := Compile(f)["r0-1"].Racks[0].Rack; strings.Join(in.TakenOver, " ") != "r0-0 r0-9" {
		t.Errorf("%+v", in)
	}
}
