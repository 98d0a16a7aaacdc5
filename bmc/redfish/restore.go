package redfish

import (
	"context"
	"slices"
	"strings"

	"rackboot/protocol"
)

const opRestore = "bmc.restore_policy"

const keyRestore = "PowerRestorePolicy"

// restorePolicies are the standard's values.
var restorePolicies = []protocol.RestorePolicy{protocol.RestoreAlwaysOn, protocol.RestoreAlwaysOff, protocol.RestoreLastState}

// restore reads the policy: the standard property (OpenBMC, AMI), or the BIOS
// attribute of vendors that keep it there.
func (v *survey) restore() {
	if p := textOf(v.system.f[keyRestore]); p != "" {
		v.out.Restore = protocol.Restore{Where: keyRestore, Value: printable(p), Policy: policyOf(p), Writable: true}
		return
	}
	for _, name := range []string{"RestoreonACPowerLoss", "AcPwrRcvry", "AutoPowerOn"} { // Supermicro, Dell, HPE
		if full, value, ok := v.attributes().find(name); ok {
			v.out.Restore = protocol.Restore{Where: full, Value: value, Policy: policyOf(value)}
			return
		}
	}
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

// RestorePolicy reads what SetRestorePolicy would replace.
func (d *driver) RestorePolicy(ctx context.Context) (protocol.RestorePolicy, error) {
	_, o, err := d.restoreAt(d.call(ctx, opRestore))
	if err != nil {
		return "", err
	}
	return policyOf(o.text(keyRestore)), nil
}

// SetRestorePolicy writes PowerRestorePolicy at the system, or at its settings
// where only those show it.
func (d *driver) SetRestorePolicy(ctx context.Context, want protocol.RestorePolicy) (protocol.RestorePolicy, error) {
	if !slices.Contains(restorePolicies, want) {
		return "", protocol.Errorf(protocol.CodeInvalid, opRestore, "%q is not a power restore policy", want).
			WithHint("use one of %v", slices.Clone(restorePolicies))
	}
	c := d.call(ctx, opRestore)
	at, o, err := d.restoreAt(c)
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
		return before, protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s accepted the power restore policy %s and shows %.40q", d.link.base, want, got).
			WithHint("set it in the BIOS settings")
	}
	return before, nil
}

func (d *driver) restoreAt(c *call) (string, *object, error) {
	s, err := d.read(c)
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
	return "", nil, protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s has no %s", d.link.base, keyRestore).
		WithHint("what the server does when mains power returns is a BIOS setting here: see its inventory")
}
