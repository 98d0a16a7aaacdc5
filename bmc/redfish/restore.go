package redfish

import (
	"context"
	"slices"
	"strings"

	"rackboot/protocol"
)

const keyRestore = "PowerRestorePolicy"

// restorePolicies are the standard's values.
var restorePolicies = []protocol.RestorePolicy{protocol.RestoreAlwaysOn, protocol.RestoreAlwaysOff, protocol.RestoreLastState}

// restoreOf is the policy: the standard property (OpenBMC, AMI), or the BIOS
// attribute of vendors that keep it there.
func restoreOf(s *system, bios attributes) protocol.Restore {
	if p := textOf(s.f[keyRestore]); p != "" {
		return protocol.Restore{Where: keyRestore, Value: printable(p), Policy: policyOf(p), Writable: true}
	}
	for _, row := range restoreAttributes {
		if full, value, ok := bios.find(row.name); ok {
			return protocol.Restore{Where: full, Value: value, Policy: policyOf(value)}
		}
	}
	return protocol.Restore{}
}

// policyOf understands the words of the standard and of BIOS attributes.
func policyOf(word string) protocol.RestorePolicy {
	switch strings.ToLower(strings.ReplaceAll(word, " ", "")) {
	case "alwayson", "on", "poweron", "alwayspoweron":
		return protocol.RestoreAlwaysOn
	case "alwaysoff", "off", "stayoff", "alwayspoweroff":
		return protocol.RestoreAlwaysOff
	case "laststate", "last", "restorelaststate":
		return protocol.RestoreLastState
	}
	return ""
}

// restorePolicy reads and writes what a server does when mains power returns.
type restorePolicy struct {
	link    *link
	locator *locator
}

func newRestorePolicy(l *link, at *locator) *restorePolicy {
	return &restorePolicy{link: l, locator: at}
}

// read reads what set would replace.
func (r *restorePolicy) read(ctx context.Context) (protocol.RestorePolicy, error) {
	_, o, err := r.at(newCall(ctx, opRestore, r.link))
	if err != nil {
		return "", err
	}
	return policyOf(o.text(keyRestore)), nil
}

// set writes PowerRestorePolicy at the system, or at its settings
// where only those show it.
func (r *restorePolicy) set(ctx context.Context, want protocol.RestorePolicy) (protocol.RestorePolicy, error) {
	if !slices.Contains(restorePolicies, want) {
		return "", protocol.Errorf(protocol.CodeInvalid, opRestore, "%q is not a power restore policy", want).
			WithHint("use one of %v", slices.Clone(restorePolicies))
	}
	c := newCall(ctx, opRestore, r.link)
	at, o, err := r.at(c)
	if err != nil {
		return "", err
	}
	before := policyOf(o.text(keyRestore))
	if before == want {
		return before, nil
	}
	if _, err := c.patch(at, o.tag(), map[string]any{keyRestore: want}); err != nil {
		return before, err
	}
	back, err := get[object](c, at)
	if err != nil {
		return before, err
	}
	if got := back.text(keyRestore); policyOf(got) != want {
		return before, protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s accepted the power restore policy %s and shows %.40q", r.link.base, want, got).
			WithHint("set it in the BIOS settings")
	}
	return before, nil
}

// at finds the resource that has the property.
func (r *restorePolicy) at(c *call) (string, *object, error) {
	s, err := r.locator.read(c)
	if err != nil {
		return "", nil, err
	}
	for _, uri := range []string{s.ODataID, s.settings} {
		if uri == "" {
			continue
		}
		o, err := get[object](c, uri)
		if err != nil {
			return "", nil, err
		}
		if o.text(keyRestore) != "" {
			return uri, o, nil
		}
	}
	return "", nil, protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s has no %s", r.link.base, keyRestore).
		WithHint("what the server does when mains power returns is a BIOS setting here: see its inventory")
}
