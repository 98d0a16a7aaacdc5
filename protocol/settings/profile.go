package settings

import (
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// ProfileOf is the profile that selects a server; nil where none does. Where several do, none counts,
// and their names are others, sorted.
func ProfileOf(s *resource.Server, all []*resource.FirmwareProfile) (p *resource.FirmwareProfile, others []string) {
	for _, one := range all {
		if one.Spec.Selector.Matches(s.Metadata.Labels) {
			p, others = one, append(others, one.Metadata.Name)
		}
	}
	if len(others) > 1 {
		slices.Sort(others)
		return nil, others
	}
	return p, nil
}

// written is why a change that has no hindrance of its own cannot be written.
//
//	known | no setup | hindrance
//	no    | *        | unsupported
//	yes   | yes      | no-setup
//	yes   | no       | none
func written(known, noSetup bool) protocol.FirmwareHindrance {
	switch {
	case !known:
		return protocol.FirmwareUnsupported
	case noSetup:
		return protocol.FirmwareNoSetup
	}
	return ""
}

// Wanted are the settings of a plan that are to be written, and those of its changes that have a hindrance.
func Wanted(plan resource.FirmwarePlan) (want []resource.FirmwareWanted, hindered []protocol.FirmwareChange) {
	for _, c := range plan.Changes {
		if c.Hindrance != "" {
			hindered = append(hindered, c)
			continue
		}
		want = append(want, resource.FirmwareWanted{Setting: c.Setting, Where: c.Where, Value: c.Wanted, Order: c.Order})
	}
	return want, hindered
}

// Planned is the plan of a profile for a server, by what its BMC shows.
func Planned(server string, p *resource.FirmwareProfile, shown protocol.Firmware) resource.FirmwarePlan {
	out := resource.FirmwarePlan{
		Server: server, Profile: p.Metadata.Name, Vendor: shown.Vendor, Model: shown.Model, Family: shown.Family,
		Changes: Plan(p.Spec, shown), Problems: shown.Problems,
	}
	for i := range out.Changes {
		if c := &out.Changes[i]; c.Hindrance == "" {
			c.Hindrance = written(shown.Writable, shown.Setup == protocol.OfferedNo && c.Reset)
		}
	}
	if out.Changes == nil {
		out.Changes = []protocol.FirmwareChange{}
	}
	return out
}
