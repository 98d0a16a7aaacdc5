package redfish

import (
	"fmt"
	"slices"

	"rackboot/protocol"
)

// bootView is everything that a boot plan is made from.
type bootView struct {
	main     *bootObject
	settings *bootObject // nil if there is none, or it says nothing of the override
	irmc     *bootObject // Fujitsu's OEM form; then the others are not written
	profile  profile
	uri      string // that firmware is to load; empty leaves that to DHCP
}

// useSettings takes a settings object into account if it has anything to say.
func (v *bootView) useSettings(uri string, o *object) {
	b := decodeBoot(uri, o.tag(), o.f["Boot"])
	if b.has(keyTarget) || b.has(keyEnabled) || b.has(keyHTTPURI) {
		// A settings resource without a list takes what the system allows (GH200).
		if len(b.targets) == 0 {
			b.targets = v.main.targets
		}
		if len(b.enabled) == 0 {
			b.enabled = v.main.enabled
		}
		v.settings = &b
	}
}

// uriPlace is the resource that takes HttpBootUri, or nil.
func (v bootView) uriPlace() *bootObject {
	for _, b := range []*bootObject{v.main, v.settings} {
		// Null on the system means that the settings have it (AMI).
		if b.has(keyHTTPURI) && (b != v.main || string(b.keys[keyHTTPURI]) != "null" || !v.settings.has(keyHTTPURI)) {
			return b
		}
	}
	return nil
}

// keeps reports whether the BMC shows the URL that it was given.
func (v bootView) keeps(uri string) bool {
	return slices.ContainsFunc(v.all(), func(b *bootObject) bool { return b.httpURI == uri })
}

// all are the resources that may hold an override, the system first.
func (v bootView) all() []*bootObject {
	var out []*bootObject
	for _, b := range []*bootObject{v.irmc, v.main, v.settings} {
		if b != nil && (v.irmc == nil || b == v.irmc) {
			out = append(out, b)
		}
	}
	return out
}

// bootWrite is one PATCH: the properties to set; nil is null.
type bootWrite struct {
	at   *bootObject
	name protocol.BootTarget // the BMC's word for the target
	body map[string]any
}

// payload is the JSON body.
func (w bootWrite) payload() any {
	if w.at.irmc {
		return w.body
	}
	return map[string]any{"Boot": w.body}
}

// without is the write without one property.
func (w bootWrite) without(key string) bootWrite {
	body := make(map[string]any, len(w.body))
	for k, v := range w.body {
		if k != key {
			body[k] = v
		}
	}
	w.body = body
	return w
}

// bootPlan is what to write. ways are alternatives, each of which is to be
// written completely; none of them and no why means that nothing has to change.
type bootPlan struct {
	ways   [][]bootWrite
	why    string // unsupported: the reason
	remedy string
}

// wayAt is the way that ends at none of the given resources.
func (p bootPlan) wayAt(but []string) []bootWrite {
	for _, way := range p.ways {
		if !slices.Contains(but, way[len(way)-1].at.uri) {
			return way
		}
	}
	return nil
}

// plan decides what to write for an override.
func (v bootView) plan(want protocol.Override) bootPlan {
	if want.Armed() {
		return v.planArm(want)
	}
	return v.planDisarm(want.Enabled == "")
}

// places are the resources to write a target at, in the order to try. Settings
// that show both keys are meant to be written (iDRAC 10, AMI, OpenBMC); that
// they exist means nothing (Dell 7.10 keeps only the order there; HPE, Lenovo).
// Where they allow other targets than the system does (BlueField), the plan takes
// the place that allows the wanted one.
func (v bootView) places(words []protocol.BootTarget) []*bootObject {
	if v.irmc != nil {
		return []*bootObject{v.irmc}
	}
	var out []*bootObject
	settings := v.settings.has(keyTarget) && v.settings.has(keyEnabled)
	if settings {
		out = append(out, v.settings)
	}
	shown := v.main.has(keyTarget) || v.main.has(keyEnabled) || v.main.has(keyMode) || len(v.main.targets) > 0
	if !settings && shown || v.main.has(keyTarget) && (len(v.main.targets) > 0 || v.main.override.Target != "") {
		out = append(out, v.main)
	}
	return out
}

func (v bootView) planArm(want protocol.Override) bootPlan {
	words := v.profile.words(want.Target)
	var plan bootPlan
	if v.uri != "" && (v.irmc != nil || v.uriPlace() == nil) {
		return bootPlan{why: "it shows no HttpBootUri", remedy: "boot the server by virtual media, or give it reach segment and a segment with DHCP"}
	}
	var offers []protocol.BootTarget
	for _, at := range v.places(words) {
		name, ok := at.pick(words)
		if !ok {
			offers = at.targets
			continue
		}
		if len(at.enabled) > 0 && !slices.Contains(at.enabled, want.Enabled) {
			plan.why = fmt.Sprintf("it allows %v, not %s", at.enabled, want.Enabled)
			plan.remedy = "use Once, before each power-on"
			continue
		}
		if at.override.Mode == modeLegacy && v.profile.mode == modeNever && wantedMode(want) == modeUEFI {
			plan.why = "the server boots in legacy mode, which cannot be changed here"
			plan.remedy = "set the boot mode to UEFI in the BIOS settings"
			continue
		}
		plan.ways = append(plan.ways, v.armAt(at, name, want))
	}
	switch {
	case len(plan.ways) > 0:
		plan.why, plan.remedy = "", ""
	case plan.why == "" && len(v.places(words)) == 0:
		plan.why = "it shows no boot override" // IBM took it out of OpenBMC
		plan.remedy = "set the boot order in the BIOS settings; this server cannot be armed"
	case plan.why == "":
		plan.why = fmt.Sprintf("it does not offer the boot target %s; it offers %v", want.Target, offers)
		plan.remedy = "choose another boot method for this server"
	}
	return plan
}

func (v bootView) armAt(at *bootObject, name protocol.BootTarget, want protocol.Override) []bootWrite {
	if at.irmc {
		return []bootWrite{{at: at, name: name, body: map[string]any{
			"BootDevice": name, "NextBootOnlyEnabled": want.Enabled == protocol.OverrideOnce,
		}}}
	}
	body := map[string]any{keyTarget: name, keyEnabled: want.Enabled}
	if v.sendsMode(at, wantedMode(want)) {
		body[keyMode] = wantedMode(want)
	}
	writes := []bootWrite{{at: at, name: name, body: body}}
	if want.Target != protocol.TargetUefiHTTP {
		return writes
	}
	// A URI that somebody left would be booted instead of what DHCP says, or of ours.
	var place *bootObject
	if v.uri != "" {
		place = v.uriPlace()
	}
	for _, b := range v.all() {
		var uri any
		if b == place {
			uri = v.uri
		}
		switch {
		case b.httpURI == "" && b != place:
		case b == at:
			body[keyHTTPURI] = uri
		default:
			writes = slices.Insert(writes, 0, bootWrite{at: b, body: map[string]any{keyHTTPURI: uri}})
		}
	}
	return writes
}

// sendsMode applies the profile's rule. A mode that a resource does not show is
// never sent: Supermicro X10 refuses the whole request (metal-operator #982).
func (v bootView) sendsMode(at *bootObject, mode string) bool {
	if !at.has(keyMode) {
		return false
	}
	switch v.profile.mode {
	case modeAlways:
		return true
	case modeNever:
		return false
	case modeIfChanged:
	}
	return at.override.Mode != "" && at.override.Mode != mode
}

// planDisarm has a way for each resource that is armed: a write at one of them
// often clears the other. Where none of them says anything (AMI shows null), it
// is written at the place for it.
//
// targetOnly writes the target None and no Enabled, for BMCs that refuse Disabled.
func (v bootView) planDisarm(targetOnly bool) bootPlan {
	places := v.places([]protocol.BootTarget{protocol.TargetNone})
	for _, b := range v.all() {
		if !slices.Contains(places, b) {
			places = append(places, b)
		}
	}
	silent := !slices.ContainsFunc(places, func(b *bootObject) bool { return b.override.Armed() || b.disarmed() })
	var plan bootPlan
	for i, at := range places {
		body := map[string]any{}
		if at.override.Armed() || silent && i == 0 {
			if body = v.disarmBody(at); targetOnly && !at.irmc {
				delete(body, keyEnabled)
				body[keyTarget] = protocol.TargetNone
			}
		}
		if at.httpURI != "" {
			body[keyHTTPURI] = nil
		}
		if at.bootNext != "" {
			body[keyBootNext] = nil
		}
		if len(body) > 0 {
			plan.ways = append(plan.ways, []bootWrite{{at: at, name: protocol.TargetNone, body: body}})
		}
	}
	return plan
}

func (v bootView) disarmBody(at *bootObject) map[string]any {
	if at.irmc {
		name, ok := at.pick([]protocol.BootTarget{protocol.TargetNone})
		if !ok {
			name = protocol.TargetNone
		}
		return map[string]any{"BootDevice": name, "NextBootOnlyEnabled": true}
	}
	body := map[string]any{keyEnabled: protocol.OverrideDisabled}
	_, none := at.pick([]protocol.BootTarget{protocol.TargetNone})
	switch {
	case v.profile.keepTarget && at.override.Armed():
		body[keyTarget] = at.override.Target
	case none:
		body[keyTarget] = protocol.TargetNone
	}
	if v.profile.mode == modeAlways && at.has(keyMode) {
		body[keyMode] = modeUEFI
		if at.override.Mode != "" {
			body[keyMode] = at.override.Mode
		}
	}
	return body
}

func wantedMode(want protocol.Override) string {
	if want.Mode != "" {
		return want.Mode
	}
	return modeUEFI
}
