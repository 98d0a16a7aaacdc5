package redfish

import (
	"slices"

	"rackboot/bmc"
	"rackboot/protocol"
)

// offersOf is what the BMC offers of resets and boots. types are the reset types that it states.
func offersOf(v *survey, view bootView, types []bmc.ResetType, options []protocol.BootOption, set attributes) protocol.Offers {
	reset := func(r bmc.ResetType) protocol.Offer {
		switch {
		case len(types) == 0: // it does not say
			return ""
		case slices.Contains(types, r):
			return protocol.OfferedYes
		}
		return protocol.OfferedNo
	}
	out := protocol.Offers{
		ForceOff: reset(bmc.ResetForceOff), GracefulShutdown: reset(bmc.ResetGracefulShutdown), ForceRestart: reset(bmc.ResetForceRestart),
		GracefulRestart: reset(bmc.ResetGracefulRestart),
		BootURI:         protocol.OfferedNo,
	}
	if view.irmc == nil && view.uriPlace() != nil {
		out.BootURI = protocol.OfferedYes
	}
	boot := func(t protocol.BootTarget, kind protocol.OptionKind) protocol.BootOffer {
		plan := view.plan(protocol.Override{Target: t, Enabled: protocol.OverrideOnce, Mode: modeUEFI})
		switch {
		case plan.why != "":
			return protocol.BootOffer{Is: protocol.OfferedNo, Why: plan.why}
		case kind == "":
			return protocol.BootOffer{Is: protocol.OfferedYes}
		}
		return switched(options, kind, set)
	}
	out.Pxe = boot(protocol.TargetPxe, protocol.OptionPXE)
	out.UefiHTTP = boot(protocol.TargetUefiHTTP, protocol.OptionHTTP)
	out.Cd = boot(protocol.TargetCd, "")
	return out
}

// switched says whether firmware has a way to boot from the network switched off: each of its switches
// that there is is off, or that of the whole stack, and no boot option of an interface shows it all the
// same (Lenovo's "Network" is of none). A BIOS that has none of the switches says nothing.
func switched(options []protocol.BootOption, kind protocol.OptionKind, set attributes) protocol.BootOffer {
	shown := slices.ContainsFunc(options, func(o protocol.BootOption) bool {
		return o.Kind == kind && !o.Disabled && (o.Path != "" || o.MAC != "")
	})
	var off protocol.BootOffer
	on, whole := false, false
	for _, s := range stackSwitches {
		if s.kind != "" && s.kind != kind {
			continue
		}
		full, value, ok := set.find(s.name)
		is := protocol.BootOffer{Is: protocol.OfferedOff, Setting: full, Value: value, Want: s.on}
		switch {
		case !ok:
		case s.kind == "" && value == s.off:
			off, whole = is, true
		case value != s.off:
			on = on || s.kind != ""
		case off.Setting == "":
			off = is
		}
	}
	if shown || on && !whole || off.Setting == "" {
		return protocol.BootOffer{Is: protocol.OfferedYes}
	}
	return off
}
