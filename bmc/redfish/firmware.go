package redfish

import (
	"context"
	"slices"

	"rackboot/protocol"
)

// firmware reads how the firmware is set, and the BIOS attributes of these names. It is slow, and
// one request at a time.
func (i *inventory) firmware(ctx context.Context, names []string) (protocol.Firmware, error) {
	if len(names) > protocol.MaxFirmwareAttributes {
		return protocol.Firmware{}, protocol.Errorf(protocol.CodeInvalid, opFirmware, "%d BIOS attributes are asked for, more than %d", len(names), protocol.MaxFirmwareAttributes)
	}
	v, err := i.survey(ctx, opFirmware)
	if err != nil {
		return protocol.Firmware{}, err
	}
	set := readBIOS(v)
	at := newFirmwareValues(v, set)
	if len(names) > 0 { // it is large, and of those that are known it says nothing new
		at.registry = readRegistry(v, set.registry)
	}
	out := protocol.Firmware{
		SystemURI: v.system.ODataID, Vendor: v.system.manufacturer, Model: v.system.model, Family: v.system.profile.name,
		SecureBoot: secureBoot(v),
		FirmwareSettings: protocol.FirmwareSettings{
			BootOrder: bootOrder(v), Restore: at.restore(v.system), Switches: at.switches(), HTTPURL: at.httpURL(), Attributes: at.named(names), Asked: names, BIOS: set.there,
		},
	}
	for _, o := range bootOptions(v) {
		out.BootOptions = append(out.BootOptions, o.BootOption)
	}
	if out.Writable = v.system.profile.firmware; out.Writable {
		out.Setup = i.setup(v)
	}
	out.Problems = v.problems
	return out, nil
}

// setup is whether the BMC has firmware end POST in its own menus.
func (i *inventory) setup(v *survey) protocol.Offer {
	view, err := i.overrides.view(v.c)
	if err != nil {
		v.problem("Boot", err)
		return ""
	}
	if view.plan(protocol.Override{Target: protocol.TargetSetup, Enabled: protocol.OverrideOnce, Mode: modeUEFI}).why != "" {
		return protocol.OfferedNo
	}
	return protocol.OfferedYes
}

// bootOrder is the order of the system, or of its settings where only those have one (AMI).
func bootOrder(v *survey) []string {
	if order := v.system.boot.order; len(order) > 0 || v.system.settings == "" {
		return order
	}
	o := v.get("Settings", v.system.settings)
	if o == nil {
		return nil
	}
	return decodeBoot(o.ODataID, "", o.f["Boot"]).order
}

// firmwareValues makes values of BIOS attributes.
type firmwareValues struct {
	now      attributes
	waiting  attributes
	registry attributeRegistry
}

// newFirmwareValues reads what waits for the next reset: the settings resource has it, with or without all
// that does not wait.
func newFirmwareValues(v *survey, set bios) *firmwareValues {
	a := &firmwareValues{now: set.attributes}
	if set.there && set.at != set.uri {
		if o := v.get("Bios settings", set.at); o != nil {
			a.waiting = attributesOf(o)
		}
	}
	return a
}

// of is the value of the attribute with the full name.
func (a *firmwareValues) of(full string) protocol.FirmwareValue {
	e := a.registry[full]
	v := protocol.FirmwareValue{Name: full, ReadOnly: e.readOnly, Secret: e.secret, Values: e.values, Reset: true}
	if v.Secret {
		return v
	}
	v.Value = a.now[full]
	if next, ok := a.waiting[full]; ok && next != v.Value {
		v.Waits = next
	}
	return v
}

// restore is where the power restore policy is set: the standard property, or a BIOS attribute.
func (a *firmwareValues) restore(s *system) protocol.FirmwareRestore {
	r := restoreOf(s, a.now)
	if r.Writable {
		words := map[protocol.RestorePolicy]string{}
		for _, p := range restorePolicies {
			words[p] = string(p)
		}
		return protocol.FirmwareRestore{FirmwareValue: protocol.FirmwareValue{Name: r.Where, Value: r.Value}, Policy: r.Policy, Words: words}
	}
	for _, row := range restoreAttributes {
		if full, _, ok := a.now.find(row.name); ok {
			return protocol.FirmwareRestore{FirmwareValue: a.of(full), Policy: r.Policy, Words: row.words()}
		}
	}
	return protocol.FirmwareRestore{}
}

// words are those of the attribute, by policy.
func (r restoreAttribute) words() map[protocol.RestorePolicy]string {
	return map[protocol.RestorePolicy]string{protocol.RestoreLastState: r.lastState, protocol.RestoreAlwaysOff: r.off, protocol.RestoreAlwaysOn: r.on}
}

// switches are those of the network stack that the BIOS has.
func (a *firmwareValues) switches() (out []protocol.FirmwareSwitch) {
	for _, s := range stackSwitches {
		full, _, ok := a.now.find(s.name)
		if !ok || slices.ContainsFunc(out, func(o protocol.FirmwareSwitch) bool { return o.Name == full }) {
			continue
		}
		out = append(out, protocol.FirmwareSwitch{FirmwareValue: a.of(full), Of: s.kind, On: s.on, Off: s.off})
	}
	return out
}

// switchesOf are those of one kind.
func (a *firmwareValues) switchesOf(kind protocol.OptionKind) []protocol.FirmwareSwitch {
	return slices.DeleteFunc(a.switches(), func(s protocol.FirmwareSwitch) bool { return s.Of != kind })
}

// httpURL is the attribute with the URL that firmware boots.
func (a *firmwareValues) httpURL() protocol.FirmwareURL {
	for _, u := range bootURLs() {
		full, _, ok := a.now.find(u.name)
		if !ok {
			continue
		}
		out := protocol.FirmwareURL{FirmwareValue: a.of(full)}
		for _, n := range u.needs {
			if has, _, ok := a.now.find(n.name); ok {
				out.Needs = append(out.Needs, protocol.FirmwareNeed{FirmwareValue: a.of(has), HTTP: n.http, HTTPS: n.https, Off: n.off})
			}
		}
		return out
	}
	return protocol.FirmwareURL{}
}

// named are the attributes of these names: the one of a name, or else all that continue it with the
// number of their question.
func (a *firmwareValues) named(names []string) (out []protocol.FirmwareAttribute) {
	for _, name := range names {
		for _, full := range a.now.questions(name) {
			out = append(out, protocol.FirmwareAttribute{Asked: name, FirmwareValue: a.of(full)})
		}
	}
	return out
}
