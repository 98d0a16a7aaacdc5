package plan

import (
	"cmp"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// setEvidence fills in how secrets of the boot go to the server, and what evidence ends it. It
// is what is so now, and not fixed with the configuration: who chooses a way has what waits go
// on.
func setEvidence(f Fleet, in *message.ServerIntent, c *resource.Claim) {
	var claim resource.ClaimSpec
	var group resource.ServerGroupSpec
	var rack resource.RackSpec
	if in.Owner.Kind.Or() == resource.PurposeClaim && c != nil {
		claim = c.Spec
		if g := groupFor(f, in.Server, c); g != nil {
			group = g.Spec
		}
	}
	if r := f.rack(in.Server); r != nil {
		rack = r.Spec
	}
	in.Boot.Secrets = secretsRule(claim.Secrets, group.Secrets, rack.Secrets)
	in.Boot.RequireEvidence = evidenceRule(claim.RequireEvidence, group.RequireEvidence, rack.RequireEvidence, in.Owner.Kind.Or())
}

// evidenceRule says what evidence a boot requires. The first row that fits decides.
//
//	claim    | group    | rack     | purpose   | requires
//	reported | *        | *        | *         | reported
//	observed | *        | *        | *         | observed
//	none     | reported | *        | *         | reported
//	none     | observed | *        | *         | observed
//	none     | none     | attested | discovery | attested
//	none     | none     | attested | *         | observed
//	none     | none     | observed | *         | observed
//	none     | none     | reported | *         | reported
//	none     | none     | none     | *         | none
//
// What cannot be attested has to be the strongest that it can be where the rack requires attested.
func evidenceRule(claim, group, rack resource.EvidenceClass, p resource.Purpose) resource.EvidenceClass {
	can := resource.EvidenceOf(p)
	return cmp.Or(claim, group, rack).AtMost(can[len(can)-1])
}

// secretsRule says how secrets go. The first row that fits decides.
//
//	claim   | group   | rack    | goes
//	bmc     | *       | *       | bmc
//	segment | *       | *       | segment
//	none    | bmc     | *       | bmc
//	none    | segment | *       | segment
//	none    | none    | bmc     | bmc
//	none    | none    | segment | segment
//	none    | none    | none    | none
//
// Where nobody chose, the agent takes the BMC, and waits where it cannot.
func secretsRule(claim, group, rack resource.SecretsWay) resource.SecretsWay {
	return cmp.Or(claim, group, rack)
}

// groupFor is the group that a claim takes its image from, else the one that selects its server;
// nil without one.
func groupFor(f Fleet, server string, c *resource.Claim) *resource.ServerGroup {
	if from := c.Spec.ImageFrom; from != nil {
		return f.Indexed().index.groups[from.Group]
	}
	if s := f.server(server); s != nil {
		return groupOf(f, s)
	}
	return nil
}
