package redfish

import (
	"context"

	"rackboot/protocol"
)

// probe reads the system, its settings and the parts of an inventory, and plans
// each write without doing it. uri stands where an HTTP boot URI would be written.
func (i *inventory) probe(ctx context.Context, uri string) (protocol.Probe, error) {
	v, err := i.survey(ctx, opProbe)
	if err != nil {
		return protocol.Probe{}, err
	}
	view, err := i.overrides.view(v.c)
	if err != nil {
		return protocol.Probe{}, err
	}
	found, settings := take(v)
	p := protocol.Probe{
		Version: protocol.ProbeVersion,
		Profile: view.profile.name,
		BIOS:    printable(textOf(v.system.f["BiosVersion"])),
		Login:   i.link.loginWords(),
		Power:   string(v.system.power),
		Disarm:  planReport(protocol.TargetNone, view, view.plan(protocol.Override{Target: protocol.TargetNone, Enabled: protocol.OverrideDisabled})),
		HTTP:    httpBoot(view, view.offersHTTP(), settings.attributes, settings.at, uri),
	}
	if managers := v.managers(); len(managers) > 0 {
		p.Firmware = printable(managers[0].text("FirmwareVersion"))
	}
	for _, r := range i.power.types(v.c, v.system) {
		p.Resets = append(p.Resets, printable(string(r)))
	}
	found.Offers = offersOf(v, view, i.power.types(v.c, v.system), found.BootOptions, settings.attributes)
	for _, target := range []protocol.BootTarget{protocol.TargetPxe, protocol.TargetUefiHTTP, protocol.TargetHdd, targetCd} {
		want := protocol.Override{Target: target, Enabled: protocol.OverrideOnce, Mode: modeUEFI}
		r := planReport(target, view, view.plan(want))
		if off := found.Offers.Boot(target); off.Is == protocol.OfferedOff {
			r.Why = "firmware has it switched off: it boots by another client that is on, or from the next device"
			r.Remedy = "set the BIOS attribute: " + off.Switch()
		}
		p.Boot = append(p.Boot, r)
	}
	p.Media = mediaReport(v)
	found.Problems = v.problems
	p.Inventory = found
	return p, nil
}

// planReport says what would be written: the first of a plan's ways.
func planReport(target protocol.BootTarget, view bootView, plan bootPlan) protocol.BootPlan {
	r := protocol.BootPlan{Target: target, Supported: plan.why == "", Why: plan.why, Remedy: plan.remedy}
	switch {
	case plan.why != "":
	case len(plan.ways) == 0:
		r.Why = "nothing would have to be written now"
	default:
		for _, w := range plan.ways[0] {
			r.Writes = append(r.Writes, protocol.BootWrite{URI: w.at.uri, Body: w.payload()})
		}
		if plan.ways[0][0].at == view.settings {
			r.Why = "written at the settings resource, which shows the override; the system may show it only after the next reset"
		}
	}
	return r
}
