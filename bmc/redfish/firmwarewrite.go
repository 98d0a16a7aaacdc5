package redfish

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"rackboot/bmc"
	"rackboot/protocol"
)

// firmwareWriter writes firmware settings, each resource once in a pass.
type firmwareWriter struct {
	link    *link
	locator *locator
	restore *restorePolicy
}

func newFirmwareWriter(l *link, at *locator, restore *restorePolicy) *firmwareWriter {
	return &firmwareWriter{link: l, locator: at, restore: restore}
}

// firmwarePart writes those of the changes that are its own, in one request, and says what became of each.
type firmwarePart struct {
	is func(protocol.FirmwareChange) bool
	// job: it makes a BIOS job, of which some BMCs take one at a time.
	job   bool
	write func(c *call, s *system, own []protocol.FirmwareChange) ([]bmc.FirmwareOutcome, error)
}

// write writes what can be written in one pass.
func (w *firmwareWriter) write(ctx context.Context, changes []protocol.FirmwareChange) (out []bmc.FirmwareWritten, err error) {
	c := newCall(ctx, opWriteFirmware, w.link)
	s, err := w.locator.read(c)
	if err != nil {
		return nil, err
	}
	if !s.profile.firmware {
		return nil, protocol.Errorf(protocol.CodeUnsupported, c.op, "how the firmware settings of %q are written is not known", s.profile.name).
			WithHint("set them in the firmware's menus; they are read and compared all the same")
	}
	waits := false // a job was made, or there already
	for _, part := range w.parts() {
		own := slices.DeleteFunc(slices.Clone(changes), func(x protocol.FirmwareChange) bool { return x.Hindrance != "" || !part.is(x) })
		if len(own) == 0 {
			continue
		}
		if part.job && waits && s.profile.oneJob {
			for _, x := range own {
				out = append(out, bmc.FirmwareWritten{Setting: x.Setting, Outcome: bmc.FirmwareLater})
			}
			continue
		}
		became, err := part.write(c, s, own)
		for i, o := range became {
			out = append(out, bmc.FirmwareWritten{Setting: own[i].Setting, Outcome: o})
			waits = waits || part.job && o != bmc.FirmwareInForce
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// parts are in the order in which they are written: what needs no job first.
func (w *firmwareWriter) parts() []firmwarePart {
	where := func(names ...string) func(protocol.FirmwareChange) bool {
		return func(x protocol.FirmwareChange) bool { return slices.Contains(names, x.Where) }
	}
	own := where(keyRestore, whereOrder, keySecureBoot)
	return []firmwarePart{
		{is: where(keyRestore), write: w.writeRestore},
		{is: func(x protocol.FirmwareChange) bool { return !own(x) }, job: true, write: writeAttributes},
		{is: where(keySecureBoot), job: true, write: writeSecureBoot},
		{is: where(whereOrder), job: true, write: writeOrder},
	}
}

// What changes name that are no BIOS attributes.
const (
	whereOrder    = protocol.FirmwareAtOrder
	keySecureBoot = protocol.FirmwareAtSecureBoot
)

func (w *firmwareWriter) writeRestore(c *call, _ *system, own []protocol.FirmwareChange) ([]bmc.FirmwareOutcome, error) {
	if _, err := w.restore.set(c.ctx, protocol.RestorePolicy(own[0].Wanted)); err != nil {
		return nil, err
	}
	return []bmc.FirmwareOutcome{bmc.FirmwareInForce}, nil
}

// writeAttributes writes BIOS attributes with one PATCH of the settings resource, for the next reset where the
// BMC lets that be said (@Redfish.SettingsApplyTime).
func writeAttributes(c *call, s *system, own []protocol.FirmwareChange) ([]bmc.FirmwareOutcome, error) {
	now, err := get[object](c, linkOf(s.f["Bios"]))
	if err != nil {
		return nil, err
	}
	at := settingsURI(now.f)
	if at == "" {
		return nil, protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s has no settings resource for BIOS attributes", c.link.base).
			WithHint("set them in the firmware's menus")
	}
	next, err := get[object](c, at)
	if err != nil {
		return nil, err
	}
	types, values, waiting := fields(now.f["Attributes"]), attributesOf(now), attributesOf(next)
	write := map[string]any{}
	for _, x := range own {
		if stands(x, values, waiting) == bmc.FirmwareUnseen && !within(x.Where, own, values, waiting) {
			write[x.Where] = typed(types[x.Where], x.Wanted)
		}
	}
	if len(write) > 0 {
		payload := map[string]any{"Attributes": write}
		if offersOnReset(now) {
			payload["@Redfish.SettingsApplyTime"] = map[string]any{"@odata.type": "#Settings.v1_3_0.PreferredApplyTime", "ApplyTime": "OnReset"}
		}
		if _, err := c.patch(at, next.tag(), payload); err != nil {
			return nil, err
		}
		if next, err = get[object](c, at); err != nil {
			return nil, err
		}
		waiting = attributesOf(next)
	}
	out := make([]bmc.FirmwareOutcome, len(own))
	for i, x := range own {
		if out[i] = stands(x, values, waiting); out[i] == bmc.FirmwareUnseen && within(x.Where, own, values, waiting) {
			out[i] = bmc.FirmwareLater
		}
	}
	return out, nil
}

// within says whether an attribute is read-only until another, which changes or waits, has its value.
func within(name string, own []protocol.FirmwareChange, now, waiting attributes) bool {
	for _, w := range attributesWithin {
		if name == w.name || !strings.HasPrefix(name, w.prefix) || now[w.name] == w.value {
			continue
		}
		comes := func(x protocol.FirmwareChange) bool { return x.Where == w.name && x.Wanted == w.value }
		if waiting[w.name] == w.value || slices.ContainsFunc(own, comes) {
			return true
		}
	}
	return false
}

// stands is how a change stands by what is in force and what waits. A value that waits counts before the one
// that is in force, which it ends.
func stands(x protocol.FirmwareChange, now, waiting attributes) bmc.FirmwareOutcome {
	value, waits := waiting[x.Where]
	switch is := now[x.Where] == x.Wanted; {
	case waits && value == x.Wanted && !is:
		return bmc.FirmwareWaits
	case is && (!waits || value == x.Wanted):
		return bmc.FirmwareInForce
	}
	return bmc.FirmwareUnseen
}

// offersOnReset says whether a resource's settings can be told to wait for a reset.
func offersOnReset(o *object) bool {
	return slices.Contains(textsOf[string](fields(o.f["@Redfish.Settings"])["SupportedApplyTimes"]), "OnReset")
}

// typed is a value as the BMC spells the one of today: as a number or a boolean where that is one.
func typed(today json.RawMessage, value string) any {
	var was any
	_ = json.Unmarshal(today, &was) // what is none is a text
	switch was.(type) {
	case float64:
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			return n
		}
	case bool:
		if b, err := strconv.ParseBool(value); err == nil {
			return b
		}
	}
	return value
}

// writeSecureBoot writes SecureBootEnable, which counts after the next reset.
func writeSecureBoot(c *call, s *system, own []protocol.FirmwareChange) ([]bmc.FirmwareOutcome, error) {
	want, uri := own[0].Wanted == "On", linkOf(s.f["SecureBoot"])
	o, err := get[object](c, uri)
	if err != nil {
		return nil, err
	}
	is := func(o *object) bool { return string(o.f[keySecureBoot]) == strconv.FormatBool(want) }
	if is(o) {
		return []bmc.FirmwareOutcome{bmc.FirmwareInForce}, nil
	}
	if _, err := c.patch(uri, o.tag(), map[string]any{keySecureBoot: want}); err != nil {
		return nil, err
	}
	if o, err = get[object](c, uri); err != nil {
		return nil, err
	}
	if is(o) {
		return []bmc.FirmwareOutcome{bmc.FirmwareWaits}, nil
	}
	return []bmc.FirmwareOutcome{bmc.FirmwareUnseen}, nil
}

// writeOrder writes the boot order at the settings of the system where those show one, else at the system.
func writeOrder(c *call, s *system, own []protocol.FirmwareChange) ([]bmc.FirmwareOutcome, error) {
	uri, tag, order := s.ODataID, s.boot.tag, s.boot.order
	if s.settings != "" {
		o, err := get[object](c, s.settings)
		if err != nil {
			return nil, err
		}
		if b := decodeBoot(s.settings, o.tag(), o.f["Boot"]); len(b.order) > 0 {
			uri, tag, order = b.uri, b.tag, b.order
		}
	}
	if slices.Equal(order, own[0].Order) {
		return []bmc.FirmwareOutcome{bmc.FirmwareInForce}, nil
	}
	if _, err := c.patch(uri, tag, map[string]any{"Boot": map[string]any{"BootOrder": own[0].Order}}); err != nil {
		return nil, err
	}
	o, err := get[object](c, uri)
	if err != nil {
		return nil, err
	}
	if slices.Equal(decodeBoot(uri, "", o.f["Boot"]).order, own[0].Order) {
		return []bmc.FirmwareOutcome{bmc.FirmwareWaits}, nil
	}
	return []bmc.FirmwareOutcome{bmc.FirmwareUnseen}, nil
}
