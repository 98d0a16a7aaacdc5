package decide

import (
	"fmt"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// aside is a server's owner while another one has the server.
type aside struct {
	intent *message.ServerIntent
	grant  *message.Grant
}

// maintain gives the server to a maintenance, whatever it does.
func (w *world) maintain(power resource.Power, attempts int) {
	if w.intent == nil || w.aside != nil || w.intent.Releasing {
		return
	}
	w.aside = &aside{w.intent, w.grant}
	w.claims++
	w.w.orders++
	uid := fmt.Sprintf("maintenance-%d", w.claims)
	in := *w.intent
	in.Owner.Name, in.Owner.UID, in.Owner.Kind, in.PowerCycle, in.Power = "m", uid, resource.PurposeMaintenance, true, power
	in.Boot = &message.BootIntent{
		Owner:       resource.Owner{Kind: resource.PurposeMaintenance, UID: uid},
		GrantedBoot: resource.GrantedBoot{Generation: 1, GrantFor: w.incarnation, BootSpec: resource.BootSpec{BootPolicy: resource.BootPolicy{FirstBoot: resource.FirstBootUefiHTTP, Boot: resource.BootHdd}, Image: resource.Image{Digest: "sha256:firmware"}}},
	}
	w.intent = &in
	w.grant = &message.Grant{
		OwnerUID: uid, Generation: 1, Server: "server-1", ServerUID: "uid-1", ImageDigest: "sha256:firmware", Purpose: resource.PurposeMaintenance,
		FirstBoot: resource.FirstBootUefiHTTP, MaxAttempts: attempts, Repeat: true, IssuedAt: w.clock(),
	}
	w.poke()
}

// forged is what is wrong with a grant; empty is nothing.
type forged string

func forgeries() []forged {
	return []forged{"", "", "none", "another claim's", "another image's", "another server's"}
}

// of is the grant as it travels. The agent is shown what was verified: a grant that the
// hub signed for something else may come, and one that it did not sign is none.
func (f forged) of(g *message.Grant) *message.Grant {
	if g == nil || f == "none" {
		return nil
	}
	c := *g
	switch f {
	case "another claim's":
		c.OwnerUID = "claim-x"
	case "another image's":
		c.ImageDigest = "sha256:x"
	case "another server's":
		c.ServerUID = "uid-x"
	}
	return &c
}

// giveBack is the end of a maintenance, once its server was proved Off.
func (w *world) giveBack() bool {
	if w.aside == nil {
		return false
	}
	in := *w.aside.intent
	in.Identity = w.intent.Identity
	w.intent, w.grant, w.aside = &in, w.aside.grant, nil
	w.w.orders++
	w.poke()
	return true
}

// policy changes how the claim boots, before anything was booted.
func (w *world) policy(boot resource.Boot, r resource.OSReboot) {
	w.want(func(in *message.ServerIntent) {
		b := *in.Boot
		b.BootPolicy.Boot, b.BootPolicy.OSReboot = boot, r
		in.Boot = &b
	})
	w.grant.Repeat = boot == resource.BootNetwork
}

// want changes what the intent says, in a copy: documents replace each other.
func (w *world) want(change func(*message.ServerIntent)) {
	if w.intent != nil {
		in := *w.intent
		change(&in)
		w.intent = &in
		w.poke()
	}
}

// rearmed checks an override that is written for a restart of the operating system.
func (x *witness) rearmed(s Snapshot, p Plan) {
	last, in, a := p.Watch.Last, s.Intent, p.Record.Attempt
	switch o := p.Action.Override; {
	case p.Action.Kind == ActDisarm:
		if last.Power != protocol.PowerOff && p.Record.Residue.Rearm().State != RearmUndo {
			x.t.Fatalf("P6: disarmed while %s: %+v", last.Power, p.Record.Residue.Rearm())
		}
	case o.Target != protocol.TargetHdd, o.Enabled != protocol.OverrideOnce:
		x.t.Fatalf("P6: %+v for a restart", o)
	case len(s.Holds) > 0, in == nil, in.Releasing, in.Power != resource.WantOn, netOnly(in):
		x.t.Fatalf("P6: armed for a restart of %+v, %d holds", in, len(s.Holds))
	case last.Power != protocol.PowerOn, a.Open(), p.Record.Unexpected != nil:
		x.t.Fatalf("P6: armed for a restart while %s, attempt %+v", last.Power, a)
	case in.Boot.BootPolicy.OSReboot != resource.OSRebootRearm && a.Stage.Evidence != protocol.EvidenceInstalled:
		x.t.Fatal("P6: armed for a restart, and the claim says safeStop")
	}
}

// repeats checks P4 for a network boot by a grant that repeats: after one that fetched
// its files, the next one has an order. fresh is a new attempt. An order that waited while the files
// were fetched, as behind firmware work, counts once.
func (x *witness) repeats(key string, fresh bool, waited []RequestState) {
	at, ok := x.fetchedAt[key]
	if !ok || !fresh || x.orders > at {
		return
	}
	for _, r := range waited {
		if r.Outcome == resource.OutcomePending && !x.waited[r.ID] {
			x.waited[r.ID] = true
			return
		}
	}
	x.t.Fatalf("P6: booted from the network again without an order since")
}
