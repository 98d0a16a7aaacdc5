package plan

import (
	"time"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// ownerRule says whose a server is. The first row that fits decides.
//
//	maintenance | claim | discovery | owner       | releases
//	active      | *     | *         | maintenance | no
//	ends        | *     | *         | maintenance | yes
//	none        | bound | *         | claim       | no
//	none        | ends  | *         | claim       | yes
//	none        | none  | active    | discovery   | no
//	none        | none  | ends      | discovery   | yes
//	none        | none  | none      | none        | no
//
// A claim that is deleted under a maintenance ends after it: the server is Off by then,
// and stays so. A discovery that a maintenance has pushed aside goes on after it.
func ownerRule(maintenance, claim, discovery stance) (owner resource.Purpose, releases bool) {
	switch {
	case maintenance != stanceNone:
		return resource.PurposeMaintenance, maintenance == stanceEnds
	case claim != stanceNone:
		return resource.PurposeClaim, claim == stanceEnds
	case discovery != stanceNone:
		return resource.PurposeDiscovery, discovery == stanceEnds
	}
	return "", false
}

// stance is how something stands to a server.
type stance string

const (
	stanceNone   stance = "none"
	stanceActive stance = "active"
	stanceBound  stance = "bound"
	stanceEnds   stance = "ends"
)

// setOwner fills in who owns the server, and what it boots for that owner.
func setOwner(f Fleet, in *message.ServerIntent) {
	m, c, d := f.MaintenanceOf(in.Server), f.ClaimOf(in.Server), f.DiscoveryOf(in.Server)
	ms, cs, ds := stanceNone, stanceNone, stanceNone
	switch {
	case m != nil && m.Metadata.DeletedAt != nil:
		ms = stanceEnds
	case m != nil:
		ms = stanceActive
	}
	switch {
	case c != nil && c.Metadata.DeletedAt != nil:
		cs = stanceEnds
	case c != nil:
		cs = stanceBound
	}
	switch {
	case d != nil && d.Metadata.DeletedAt != nil:
		ds = stanceEnds
	case d != nil:
		ds = stanceActive
	}
	var cfg *resource.BootConfiguration
	var timeout time.Duration
	switch owner, releases := ownerRule(ms, cs, ds); owner {
	case resource.PurposeMaintenance:
		in.Owner, in.PowerCycle, in.Power = resource.Owner{Kind: owner, Name: m.Metadata.Name, UID: m.Metadata.UID}, true, m.Spec.ServerPower
		in.Releasing, cfg = releases, f.configFor(m.Metadata.UID)
	case resource.PurposeClaim:
		in.Owner, in.Power = resource.Owner{Kind: owner, Name: c.Metadata.Name, UID: c.Metadata.UID}, c.Spec.Power
		in.Releasing, cfg = releases, f.ConfigOf(c)
	case resource.PurposeDiscovery:
		in.Owner, in.Power = d.Spec.Owner, resource.WantOn
		if r := f.rack(in.Server); r != nil && r.Spec.Discovery != nil {
			in.PowerCycle, timeout = r.Spec.Discovery.AllowPowerCycle, r.Spec.Discovery.Timeout.D()
		}
		in.Releasing, cfg = releases, d
	default:
		if s := f.server(in.Server); s != nil {
			in.Discovery = DiscoveryStateOf(f, s)
		}
		return
	}
	switch {
	case in.Releasing:
		in.Power = resource.WantOff
	case in.Owner.Kind == resource.PurposeMaintenance && len(m.Spec.Firmware) > 0:
		in.Settings = &message.SettingsIntent{Want: m.Spec.Firmware}
	case cfg != nil && cfg.Spec.Server == in.Server:
		in.Boot = &message.BootIntent{
			Owner:       cfg.Spec.Owner,
			GrantedBoot: cfg.Granted(),
			Provisioned: cfg.Status.SignedProvisioned,
			Adopted:     cfg.Status.Adopted,
			Ignition:    ignitionIntent(f, cfg),
			Env:         envIntent(f, cfg),
			Timeout:     timeout,
			Fallback:    bootFallback(f, cfg),
		}
		if s := f.server(in.Server); s != nil && s.Spec.Reach == resource.ReachURI && in.Boot.BootPolicy.FirstBoot == resource.FirstBootUefiHTTP {
			in.Boot.Reach = resource.ReachURI
		}
		setEvidence(f, in, c)
	}
}

// Repeats says whether the grant of a boot is for each power-on of its owner.
func Repeats(p resource.Purpose, b resource.BootPolicy) bool {
	return p.Or() == resource.PurposeMaintenance || b.Boot == resource.BootNetwork
}
