package redfish

import (
	"cmp"
	"context"

	"rackboot/protocol"
)

// inventory reads what a server consists of, and what its BMC can do, beside power control and
// not before it.
type inventory struct {
	link      *link
	locator   *locator
	power     *power
	overrides *overrides
}

func newInventory(l *link, at *locator, p *power, o *overrides) *inventory {
	return &inventory{link: l, locator: at, power: p, overrides: o}
}

// survey begins with the system, without which there is nothing to say.
func (i *inventory) survey(ctx context.Context, op string) (*survey, error) {
	c := newSlowCall(ctx, op, i.link)
	s, err := i.locator.read(c)
	if err != nil {
		return nil, err
	}
	return newSurvey(c, s), nil
}

// systems lists the hosts behind the BMC.
func (i *inventory) systems(ctx context.Context) ([]string, error) {
	found, err := hosts(newSlowCall(ctx, opInventory, i.link), i.link.logger)
	if err != nil {
		return nil, err
	}
	var uris []string
	for _, s := range found {
		uris = append(uris, s.ODataID)
	}
	return uris, nil
}

// read reads all parts of the system, one request at a time.
func (i *inventory) read(ctx context.Context) (protocol.Inventory, error) {
	v, err := i.survey(ctx, opInventory)
	if err != nil {
		return protocol.Inventory{}, err
	}
	out, settings := take(v)
	if view, err := i.overrides.view(v.c); err != nil {
		v.problem("Boot", err)
	} else {
		out.Offers = offersOf(v, view, i.power.types(v.c, v.system), out.BootOptions, settings.attributes)
	}
	out.Problems = v.problems
	return out, nil
}

// take reads all parts. What could not be read is in the survey.
func take(v *survey) (out protocol.Inventory, settings bios) {
	identity(v, &out)
	settings = readBIOS(v)
	options := bootOptions(v)
	for _, o := range options {
		out.BootOptions = append(out.BootOptions, o.BootOption)
	}
	out.Architecture = cmp.Or(out.Architecture, optionsArch(options))
	out.Interfaces = interfaces(v, options)
	bindDevices(out.BootOptions, out.Interfaces, settings.attributes)
	out.SecureBoot = secureBoot(v)
	out.Restore = restoreOf(v.system, settings.attributes)
	out.SafeStop = protocol.SafeStopOf(protocol.SafeStopFacts{
		BootOrder: out.BootOrder, BootOptions: out.BootOptions, SecureBoot: out.SecureBoot, BIOS: settings.there,
		Shell: (&firmwareValues{now: settings.attributes}).switchesOf(protocol.OptionShell),
	})
	if !settings.there && linkOf(v.system.f["Bios"]) != "" && out.SafeStop.Class == protocol.SafeStopNone {
		out.SafeStop.Reason += "; the BIOS attributes, one of which may bring it, cannot be read"
	}
	out.Detection = detection(v)
	out.Media = countDrives(v)
	return out, settings
}
