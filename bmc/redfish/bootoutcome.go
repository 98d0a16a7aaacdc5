package redfish

import (
	"fmt"
	"slices"
	"strings"

	"rackboot/bmc"
	"rackboot/protocol"
)

// outcome says what a BMC made of an override: before and back are what its
// resources showed, at is the URI that took the write, name the word written.
func outcome(want protocol.Override, name protocol.BootTarget, at string, before, back bootView) bmc.BootResult {
	if !want.Armed() {
		return disarmOutcome(at, before, back)
	}
	r := bmc.BootResult{Where: at}
	main, written := back.all()[0], back.all()[0]
	for _, b := range back.all() {
		if b.uri == at {
			written = b
		}
	}
	r.Read = written.override
	switch {
	case shows(main, want, want.Target):
		r.Outcome, r.Read = bmc.BootStored, main.override
	case aliased(main, want, name, back.profile):
		r.Outcome, r.Read = bmc.BootAliased, main.override
		r.Text = fmt.Sprintf("the BMC shows %s as %s", want.Target, main.override.Target)
	case written != main && (shows(written, want, want.Target) || aliased(written, want, name, back.profile)):
		r.Outcome = bmc.BootPendingReset
		r.Text = "accepted for the next reset; the system itself does not show it before"
	case coerced(main, want, name):
		r.Outcome, r.Read = bmc.BootCoercedContinuous, main.override
		r.Text = "the BMC stored Continuous instead of Once: it stays armed until it is cleared"
	case unchanged(at, before, back):
		r.Outcome = bmc.BootDropped
		r.Text = "the BMC answered with success and stored nothing"
	default:
		r.Outcome = bmc.BootReverted
		r.Text = fmt.Sprintf("the BMC answered with success and stored %s %s %s", r.Read.Target, r.Read.Enabled, r.Read.Mode)
	}
	r.Stored = r.Read
	if r.Outcome.OK() {
		r.Stored = protocol.Override{Target: want.Target, Enabled: want.Enabled, Mode: r.Read.Mode}
	}
	return r
}

func disarmOutcome(at string, before, back bootView) bmc.BootResult {
	r := bmc.BootResult{Outcome: bmc.BootStored, Where: at}
	r.Read = back.all()[0].override
	for _, b := range back.all() {
		if b.override.Armed() {
			r.Read, r.Outcome = b.override, bmc.BootReverted
			r.Text = "the override is still armed at " + b.uri
			if unchanged(b.uri, before, back) {
				r.Outcome = bmc.BootDropped
			}
		}
	}
	r.Stored = r.Read
	return r
}

// shows reports whether a resource holds the override under the given name, in
// the wanted mode.
func shows(b *bootObject, want protocol.Override, name protocol.BootTarget) bool {
	return b.override.Enabled == want.Enabled && modeFits(b, want) &&
		(b.override.Target == name || b.irmc && strings.EqualFold(string(b.override.Target), string(name)))
}

// modeFits is true where no mode is shown.
func modeFits(b *bootObject, want protocol.Override) bool {
	return b.override.Mode == "" || b.override.Mode == wantedMode(want)
}

// aliased reports whether a resource holds the override under another name: the
// one that was written, or one of the profile's. A UefiTarget that names
// something else than a network device is not PXE.
func aliased(b *bootObject, want protocol.Override, written protocol.BootTarget, p profile) bool {
	if shows(b, want, written) {
		return true
	}
	if !slices.Contains(p.reads[want.Target], b.override.Target) || !shows(b, want, b.override.Target) {
		return false
	}
	path := b.uefiTarget
	return b.override.Target != wordUefiTarget || path == "" || strings.Contains(strings.ToUpper(path), "MAC(")
}

// coerced: kubevirtbmc #165.
func coerced(b *bootObject, want protocol.Override, name protocol.BootTarget) bool {
	return want.Enabled == protocol.OverrideOnce && b.override.Enabled == protocol.OverrideContinuous &&
		(b.override.Target == want.Target || b.override.Target == name)
}

// unchanged reports whether a resource shows what it showed before.
func unchanged(uri string, before, back bootView) bool {
	find := func(v bootView) (protocol.Override, bool) {
		for _, b := range v.all() {
			if b.uri == uri {
				return b.override, true
			}
		}
		return protocol.Override{}, false
	}
	old, ok := find(before)
	now, too := find(back)
	return ok && too && old == now
}
