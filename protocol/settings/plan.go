package settings

import (
	"maps"
	"slices"
	"strings"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Names are the BIOS attributes that a profile is about by name, sorted.
func Names(want resource.FirmwareProfileSpec) []string {
	return slices.Sorted(maps.Keys(want.Attributes))
}

// Plan is what would have to be changed for a server to be as a profile wants it: nothing where it
// is. What cannot be had is in it as well, with its hindrance.
func Plan(want resource.FirmwareProfileSpec, shown protocol.Firmware) []protocol.FirmwareChange {
	p := plan{shown: shown, wanted: map[string]string{}}
	for _, name := range Names(want) { // by name goes before what only may be meant
		p.attribute(name, want.Attributes[name])
	}
	named := p.changes
	p.changes = nil
	p.bootOrder(want.BootOrder)
	p.httpURL(want.HTTPURL)
	p.stack("http", protocol.OptionHTTP, want.HTTP)
	p.stack("pxe", protocol.OptionPXE, want.PXE)
	p.restore(want.PowerRestore)
	p.secureBoot(want.SecureBoot)
	p.safeStop(want)
	return append(p.changes, named...)
}

// plan collects changes.
type plan struct {
	shown   protocol.Firmware
	changes []protocol.FirmwareChange
	wanted  map[string]string // of each value by its name, also where it is so
}

func (p *plan) add(c protocol.FirmwareChange) { p.changes = append(p.changes, c) }

// value notes that a value is to be another one, unless it is, or another setting wants a third.
func (p *plan) value(setting, wanted string, v protocol.FirmwareValue) {
	if other, ok := p.wanted[v.Name]; ok && other != wanted {
		p.contradicts(setting, wanted, v)
		return
	}
	p.wanted[v.Name] = wanted
	if v.Value == wanted && !v.Secret {
		return
	}
	c := protocol.FirmwareChange{Setting: setting, Where: v.Name, Today: v.Value, Wanted: wanted, Waits: v.Waits, Reset: v.Reset}
	allowed := len(v.Values) == 0 || slices.Contains(v.Values, wanted)
	if c.Hindrance = hindrance(v.Secret, v.ReadOnly, allowed); c.Hindrance == protocol.FirmwareBadValue {
		c.Text = "it may be " + strings.Join(v.Values, ", ")
	}
	p.add(c)
}

func (p *plan) contradicts(setting, wanted string, v protocol.FirmwareValue) {
	p.add(protocol.FirmwareChange{
		Setting: setting, Where: v.Name, Today: v.Value, Wanted: wanted,
		Hindrance: protocol.FirmwareContradicts, Text: "another setting of the profile wants " + p.wanted[v.Name],
	})
}

// hindrance is why a value cannot be written.
//
//	secret | read-only | allowed | hindrance
//	yes    | *         | *       | secret
//	no     | yes       | *       | read-only
//	no     | no        | no      | bad-value
//	no     | no        | yes     | none
func hindrance(secret, readOnly, allowed bool) protocol.FirmwareHindrance {
	switch {
	case secret:
		return protocol.FirmwareSecret
	case readOnly:
		return protocol.FirmwareReadOnly
	case !allowed:
		return protocol.FirmwareBadValue
	}
	return ""
}

// absent notes that a setting is nowhere to be had. Of BIOS attributes that could not be read nothing is known.
func (p *plan) absent(setting, wanted, text string) {
	c := protocol.FirmwareChange{Setting: setting, Wanted: wanted, Hindrance: protocol.FirmwareNotShown, Text: text}
	if !p.shown.BIOS {
		c.Hindrance, c.Text = protocol.FirmwareUnread, "the BIOS attributes could not be read"
	}
	p.add(c)
}

// stack is about the switches of a way to boot from the network. To be on, one of its own must be,
// which is the first of those that no attribute of the profile wants off; and that of the whole stack,
// which is never switched off. To be off, all of its own must be.
func (p *plan) stack(setting string, kind protocol.OptionKind, want resource.Power) {
	if want == "" {
		return
	}
	own := p.switches(kind)
	switch {
	case len(own) == 0:
		p.absent(setting, string(want), "no BIOS attribute is known that switches it")
	case want == resource.WantOff:
		for _, s := range own {
			p.value(setting, s.Off, s.FirmwareValue)
		}
	default:
		for _, s := range p.switches("") {
			p.value(setting, p.onValue(s), s.FirmwareValue)
		}
		p.oneOn(setting, own)
	}
}

// switches are those of a way to boot, or those of the whole stack.
func (p *plan) switches(of protocol.OptionKind) (out []protocol.FirmwareSwitch) {
	for _, s := range p.shown.Switches {
		if s.Of == of {
			out = append(out, s)
		}
	}
	return out
}

// oneOn sees to it that one of the switches is on.
func (p *plan) oneOn(setting string, own []protocol.FirmwareSwitch) {
	if slices.ContainsFunc(own, p.isOn) {
		return
	}
	for _, s := range own {
		if _, taken := p.wanted[s.Name]; !taken {
			p.value(setting, s.On, s.FirmwareValue)
			return
		}
	}
	p.contradicts(setting, own[0].On, own[0].FirmwareValue)
}

// isOn says whether a switch is on once all that is wanted so far is done.
func (p *plan) isOn(s protocol.FirmwareSwitch) bool {
	value, ok := p.wanted[s.Name]
	if !ok {
		value = s.Value
	}
	return value != s.Off
}

// onValue is the value with which a switch is on: the one that it has, if it is.
func (p *plan) onValue(s protocol.FirmwareSwitch) string {
	switch value, ok := p.wanted[s.Name]; {
	case !p.isOn(s):
		return s.On
	case ok:
		return value
	}
	return s.Value
}

// httpURL is about the URL that firmware boots by itself, and what it needs to be used. Of none nothing else is needed.
func (p *plan) httpURL(want *string) {
	const setting = "httpURL"
	u := p.shown.HTTPURL
	switch {
	case want == nil:
		return
	case u.Name == "":
		p.absent(setting, *want, "no BIOS attribute is known that has it")
		return
	}
	p.value(setting, *want, u.FirmwareValue)
	if *want == "" {
		return
	}
	for _, n := range u.Needs {
		now, named := p.wanted[n.Name]
		if !named {
			now = n.Value
		}
		value := n.HTTP
		switch {
		case n.Off != "" && now != n.Off:
			value = now
		case strings.HasPrefix(strings.ToLower(*want), "https:"):
			value = n.HTTPS
		}
		p.value(setting, value, n.FirmwareValue)
	}
}

func (p *plan) restore(want protocol.RestorePolicy) {
	r := p.shown.Restore
	switch word := r.Words[want]; {
	case want == "":
	case r.Policy == want:
		p.value("powerRestore", r.Value, r.FirmwareValue)
	case r.Name == "":
		p.absent("powerRestore", string(want), "the BMC shows neither PowerRestorePolicy nor a BIOS attribute that is known for it")
	case word == "":
		p.add(protocol.FirmwareChange{
			Setting: "powerRestore", Where: r.Name, Today: r.Value, Wanted: string(want), Waits: r.Waits, Reset: r.Reset,
			Hindrance: protocol.FirmwareBadValue, Text: "no value is known that means it",
		})
	default:
		p.value("powerRestore", word, r.FirmwareValue)
	}
}

func (p *plan) secureBoot(want resource.Power) {
	if want == "" {
		return
	}
	c := protocol.FirmwareChange{Setting: "secureBoot", Where: protocol.FirmwareAtSecureBoot, Wanted: string(want), Reset: true}
	s := p.shown.SecureBoot
	switch {
	case s == nil:
		c.Where, c.Reset, c.Hindrance, c.Text = "", false, protocol.FirmwareNotShown, "the BMC does not show whether Secure Boot is on"
	case s.Enabled == (want == resource.WantOn):
		return
	default:
		c.Today = string(power(s.Enabled))
	}
	p.add(c)
}

func power(on bool) resource.Power {
	if on {
		return resource.WantOn
	}
	return resource.WantOff
}

// attribute is about a BIOS attribute by the vendor's name.
func (p *plan) attribute(name, wanted string) {
	setting := "attributes." + name
	var found []protocol.FirmwareAttribute
	for _, a := range p.shown.Attributes {
		if a.Asked == name {
			found = append(found, a)
		}
	}
	switch len(found) {
	case 0:
		p.absent(setting, wanted, "the BIOS has no such attribute")
	case 1:
		p.value(setting, wanted, found[0].FirmwareValue)
	default:
		var names []string
		for _, a := range found {
			names = append(names, a.Name)
		}
		p.add(protocol.FirmwareChange{Setting: setting, Wanted: wanted, Hindrance: protocol.FirmwareAmbiguous, Text: "it may be " + strings.Join(names, ", ") + ": give the whole name"})
	}
}
