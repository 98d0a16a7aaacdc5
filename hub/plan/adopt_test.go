package plan

import (
	"testing"

	"rackboot/internal/doctable"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

func TestFirstRule(t *testing.T) {
	doctable.Of(t, "adopt.go", "firstRule").HoldOne(t, [][]string{
		doctable.Words(decisionNone, decisionOpen, decisionInstall), doctable.Words(readNever, readOff, readOn, readOther, readKept),
	}, func(in []string) string { return string(firstRule(decision(in[0]), lastRead(in[1]))) })
}

func TestTakeRule(t *testing.T) {
	doctable.Of(t, "adopt.go", "takeRule").HoldOne(t, [][]string{
		doctable.Words(AskKeep, AskInstall), doctable.YesNo(), doctable.YesNo(), doctable.YesNo(), {"same", "other"},
	}, func(in []string) string {
		return string(takeRule(Asked(in[0]), in[1] == "yes", in[2] == "yes", in[3] == "yes", in[4] == "same"))
	})
}

func TestCarriedRule(t *testing.T) {
	doctable.Of(t, "carried.go", "carriedRule").HoldOne(t, [][]string{
		doctable.YesNo(), doctable.Words(proofNone, proofWord, proofSigned), doctable.YesNo(),
		doctable.Words(signedOurs, signedFiles, signedNobody), doctable.YesNo(),
	}, func(in []string) string {
		return string(carriedRule(in[0] == "yes", proof(in[1]), in[2] == "yes", signature(in[3]), in[4] == "yes"))
	})
}

// What a claim's first boot depends on, as the reports say it.
func TestFirstBoot(t *testing.T) {
	report := func(known, last protocol.PowerState, owner string) *resource.ServerReport {
		return &resource.ServerReport{Power: known, OwnerUID: owner, Observation: protocol.Observation{Power: last}}
	}
	open := &resource.Decision{Why: resource.DecisionImported}
	for _, c := range []struct {
		name     string
		report   *resource.ServerReport
		decision *resource.Decision
		active   bool // a maintenance has the server
		want     First
	}{
		{"no agent has said anything", nil, nil, false, FirstWait},
		{"read Off: an ordinary claim", report(protocol.PowerOff, protocol.PowerOff, ""), nil, false, FirstGoes},
		{"read Off, and the BMC is away now", report(protocol.PowerOff, protocol.PowerUnreachable, ""), nil, false, FirstGoes},
		{"the BMC never answered", report("", protocol.PowerUnreachable, ""), nil, false, FirstWait},
		{"an agent that does not say the last known power: Off", report("", protocol.PowerOff, ""), nil, false, FirstGoes},
		{"an agent that does not say the last known power: On", report("", protocol.PowerOn, ""), nil, false, FirstAsk},
		{"found On (facts, boot policy 1.5: an existing fleet)", report(protocol.PowerOn, protocol.PowerOn, ""), nil, false, FirstAsk},
		{"found On, for this claim: the hub lost its configuration", report(protocol.PowerOn, protocol.PowerOn, "uid-c"), nil, false, FirstAsk},
		{"in a firmware menu", report("", protocol.PowerPaused, ""), nil, false, FirstAsk},
		{"the owner before is being stopped", report(protocol.PowerOn, protocol.PowerOn, "uid-before"), nil, false, FirstWait},
		{"a maintenance runs on it", report(protocol.PowerOn, protocol.PowerOn, ""), nil, true, FirstWait},
		{"asked before, Off now: an outage answers nothing", report(protocol.PowerOff, protocol.PowerOff, ""), open, false, FirstAsk},
		{"imported, nothing known", nil, open, false, FirstAsk},
		{"decided", report(protocol.PowerOn, protocol.PowerOn, ""), &resource.Decision{Install: &resource.Confirmation{}}, false, FirstGoes},
	} {
		f := makeFleet(1, 1)
		f.Claims = append(f.Claims, named(&resource.Claim{Status: resource.ClaimStatus{Server: "n0000", Decision: c.decision}}, "c"))
		if c.report != nil {
			f.Reports = map[string]*resource.ServerReport{"n0000": c.report}
		}
		if c.active {
			f.Maintenances = append(f.Maintenances, named(&resource.Maintenance{
				Spec: resource.MaintenanceSpec{ServerRef: resource.Ref{Name: "n0000"}}, Status: resource.MaintenanceStatus{State: resource.MaintenanceActive},
			}, "m"))
		}
		if got := FirstBoot(f.Indexed(), f.Claims[0]); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A proof counts for the very claim, server and image that it names.
func TestCarry(t *testing.T) {
	const digest, other = "sha256:aa", "sha256:bb"
	record := resource.Provisioned{OwnerUID: "u", Generation: 1, Server: "n", ServerUID: "s", ImageDigest: digest}
	for _, c := range []struct {
		name   string
		change func(*resource.BootConfiguration, *resource.Provisioned, *Proof)
		want   Carried
	}{
		{"as it was", func(*resource.BootConfiguration, *resource.Provisioned, *Proof) {}, CarriedAdopts},
		{"the key is not accepted", func(_ *resource.BootConfiguration, _ *resource.Provisioned, p *Proof) { p.Accepted = false }, CarriedAsks},
		{"the key is of an agent of this hub", func(_ *resource.BootConfiguration, _ *resource.Provisioned, p *Proof) {
			*p = Proof{Record: p.Record, Ours: true}
		}, CarriedCounts},
		{"nobody's key", func(_ *resource.BootConfiguration, _ *resource.Provisioned, p *Proof) { p.Known = false }, CarriedAsks},
		{"of another claim (seed 000 hole 4: by UID, not by name)", func(_ *resource.BootConfiguration, r *resource.Provisioned, _ *Proof) { r.OwnerUID = "x" }, CarriedAsks},
		{"of another generation", func(_ *resource.BootConfiguration, r *resource.Provisioned, _ *Proof) { r.Generation = 2 }, CarriedAsks},
		{"of another server", func(_ *resource.BootConfiguration, r *resource.Provisioned, _ *Proof) { r.Server = "x" }, CarriedAsks},
		{"of an earlier server of that name", func(_ *resource.BootConfiguration, r *resource.Provisioned, _ *Proof) { r.ServerUID = "x" }, CarriedAsks},
		{"of another image", func(_ *resource.BootConfiguration, r *resource.Provisioned, _ *Proof) { r.ImageDigest = other }, CarriedAsks},
		{"boot: Network", func(c *resource.BootConfiguration, _ *resource.Provisioned, _ *Proof) {
			c.Spec.BootPolicy.Boot = resource.BootNetwork
		}, CarriedAsks},
		{"a word, accepted", func(c *resource.BootConfiguration, _ *resource.Provisioned, p *Proof) {
			c.Status.Adopted, *p = &resource.Adopted{ImageDigest: digest}, Proof{Words: true}
		}, CarriedAdopts},
		{"a word, not accepted", func(c *resource.BootConfiguration, _ *resource.Provisioned, p *Proof) {
			c.Status.Adopted, *p = &resource.Adopted{ImageDigest: digest}, Proof{}
		}, CarriedAsks},
		{"a word about another image", func(c *resource.BootConfiguration, _ *resource.Provisioned, p *Proof) {
			c.Status.Adopted, *p = &resource.Adopted{ImageDigest: other}, Proof{Words: true}
		}, CarriedAsks},
		{"nothing", func(_ *resource.BootConfiguration, _ *resource.Provisioned, p *Proof) {
			*p = Proof{Words: true, Accepted: true}
		}, CarriedAsks},
	} {
		cfg := named(&resource.BootConfiguration{Spec: resource.BootConfigurationSpec{Server: "n", Owner: resource.Owner{UID: "u"}, BootSpec: resource.BootSpec{Image: resource.Image{Digest: digest}}}}, "c")
		cfg.Metadata.Generation = 1
		srv := named(&resource.Server{}, "n")
		srv.Metadata.UID = "s"
		r := record
		p := Proof{Record: &r, Known: true, Accepted: true}
		c.change(cfg, &r, &p)
		if got := Carry(cfg, srv, p); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// An agent is sent an operator's word like a record, and no grant is needed for it; one
// that does not know words is sent no boot.
func TestAdoptedTravels(t *testing.T) {
	word := &resource.Adopted{ImageDigest: "sha256:aa", By: "admin"}
	f := makeFleet(1, 1)
	f.claimOf("c", "n0000")
	f.Configs[0].Status = resource.BootConfigurationStatus{Adopted: word}
	f.Configs[0].Spec.Grant = nil
	for _, c := range []struct {
		caps []message.Capability
		boot bool
	}{{message.Capabilities(), true}, {few(), false}} {
		f.Peers = map[string]Peer{"r0-1": {Incarnation: "i", Capabilities: c.caps}}
		d := Compile(f)["r0-1"]
		boot := d.Racks[0].Servers[0].Boot
		if (boot != nil) != c.boot || boot != nil && (boot.Adopted != word || boot.Grant != nil) || (len(d.TooOld["n0000"]) == 0) != c.boot {
			t.Errorf("%d capabilities: %+v, too old for %v", len(c.caps), boot, d.TooOld)
		}
	}
}

// The reference is the claim's where it is meant, so that a claim that was taken over
// shows no difference.
func TestAdoptedImage(t *testing.T) {
	digest := "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for _, c := range []struct{ claim, said, reference string }{
		{"r.example/os:1", "r.example/os:1@" + digest, "r.example/os:1"},
		{"r.example/os@" + digest, "r.example/os@" + digest, "r.example/os@" + digest},
		{"r.example/os:2", "r.example/os:1@" + digest, "r.example/os:1"},
	} {
		cl := named(&resource.Claim{Spec: resource.ClaimSpec{Image: c.claim}}, "c")
		img := AdoptedImage(cl, &resource.Server{}, c.said)
		if img.Reference != c.reference || img.Digest != digest {
			t.Errorf("%s under %s: %+v", c.said, c.claim, img)
		}
	}
}
