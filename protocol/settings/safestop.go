package settings

import (
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

const settingSafeStop = "safeStop"

// facts are what the class of a server's safe stop is made of.
func facts(f protocol.Firmware) protocol.SafeStopFacts {
	out := protocol.SafeStopFacts{BootOrder: f.BootOrder, BootOptions: f.BootOptions, SecureBoot: f.SecureBoot, BIOS: f.BIOS}
	for _, s := range f.Switches {
		if s.Of == protocol.OptionShell {
			out.Shell = append(out.Shell, s)
		}
	}
	return out
}

// safeStop is about the class of the server's safe stop: it sees to what the class needs that no other setting of the
// profile does, and says which other setting is in its way. A shell that BIOS attributes bring is a boot option
// after a reset only, and put first by the next plan.
func (p *plan) safeStop(want resource.FirmwareProfileSpec) {
	entry := resource.BootNetworkOptions
	switch want.SafeStop {
	case "":
		return
	case protocol.SafeStopShellFirst:
		if entry = resource.BootShellOptions; !p.shellMayStart(want.SecureBoot) || !p.shellIsThere(want.BootOrder) {
			return
		}
	default:
		if want.HTTP == resource.WantOff && want.PXE == resource.WantOff {
			p.add(protocol.FirmwareChange{
				Setting: settingSafeStop, Wanted: string(want.SafeStop), Hindrance: protocol.FirmwareContradicts,
				Text: "http and pxe of the profile want that firmware boots from no network",
			})
			return
		}
	}
	p.safeOrder(want, entry)
}

// shellMayStart sees to it that Secure Boot is off; not ok where it cannot be.
func (p *plan) shellMayStart(other resource.Power) (ok bool) {
	c := protocol.FirmwareChange{Setting: settingSafeStop, Where: "SecureBootEnable", Wanted: string(resource.WantOff), Reset: true}
	s := p.shown.SecureBoot
	switch {
	case s == nil:
		c.Where, c.Reset, c.Hindrance, c.Text = "", false, protocol.FirmwareNotShown, "the BMC does not show whether Secure Boot is on, with which firmware refuses the shell"
	case other == resource.WantOn:
		c.Today, c.Hindrance, c.Text = string(power(s.Enabled)), protocol.FirmwareContradicts, "another setting of the profile wants "+string(other)
	case s.Enabled && other == "":
		c.Today = string(resource.WantOn)
	case !s.Enabled && s.Current: // until the reset
		c.Today, c.Waits = string(resource.WantOn), string(resource.WantOff)
	default:
		return true
	}
	p.add(c)
	return c.Hindrance == ""
}

// shellIsThere sees to it that the shell is a boot option; not ok while it is none.
func (p *plan) shellIsThere(order []resource.BootClass) (ok bool) {
	if len(p.shown.BootOptions) == 0 || slices.ContainsFunc(p.shown.BootOptions, func(o protocol.BootOption) bool { return is(o, resource.BootShellOptions) }) {
		return true
	}
	before := len(p.changes)
	for _, s := range p.switches(protocol.OptionShell) {
		p.value(settingSafeStop, p.onValue(s), s.FirmwareValue)
	}
	if len(p.changes) == before && (len(order) == 0 || order[0] != resource.BootShellOptions) { // else the order says so
		p.add(protocol.FirmwareChange{
			Setting: settingSafeStop, Wanted: string(protocol.SafeStopShellFirst), Hindrance: protocol.FirmwareNoOption,
			Text: "the firmware offers no shell as a boot option",
		})
	}
	return false
}

// safeOrder sees to it that the entry is first in the boot order, unless the order of the profile says what is first.
func (p *plan) safeOrder(want resource.FirmwareProfileSpec, entry resource.BootClass) {
	today := p.shown.BootOrder
	c := protocol.FirmwareChange{
		Setting: settingSafeStop, Where: protocol.FirmwareAtOrder, Today: strings.Join(today, protocol.FirmwareOrderWords), Wanted: string(want.SafeStop),
	}
	if len(today) == 0 || len(p.shown.BootOptions) == 0 {
		c.Where, c.Hindrance, c.Text = "", protocol.FirmwareUnread, "the BMC shows no boot order with its options"
		if len(want.BootOrder) == 0 { // else the order says so
			p.add(c)
		}
		return
	}
	order := want.BootOrder
	if len(order) == 0 {
		order = []resource.BootClass{entry}
	}
	next, missing := Order(order, today, p.shown.BootOptions)
	switch {
	case len(want.BootOrder) == 0 && p.becomes(today) == want.SafeStop:
		return
	case len(want.BootOrder) == 0 && missing != "":
		c.Where, c.Hindrance, c.Text = "", protocol.FirmwareNoOption, "the server has no enabled boot option of "+string(entry)
	case missing != "": // the order says so
		return
	case p.becomes(next) != want.SafeStop:
		c.Hindrance, c.Text = protocol.FirmwareContradicts, "with bootOrder of the profile the class is "+string(p.becomes(next))
	case len(want.BootOrder) > 0:
		return
	default:
		c.Order, c.Wanted, c.Reset = next, strings.Join(next, protocol.FirmwareOrderWords), true
	}
	p.add(c)
}

// becomes is the class with another order, once Secure Boot is as the class wants it.
func (p *plan) becomes(order []string) protocol.SafeStopClass {
	f := facts(p.shown)
	f.BootOrder, f.SecureBoot = order, &protocol.SecureBoot{}
	return protocol.SafeStopOf(f).Class
}
