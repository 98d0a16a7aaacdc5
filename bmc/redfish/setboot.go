package redfish

import (
	"context"
	"slices"

	"rackboot/protocol"
)

// modeUEFI is the BootSourceOverrideMode that every boot here uses.
const modeUEFI = "UEFI"

// bootPatch is the whole body of a SetBoot: nothing that was read is echoed.
type bootPatch struct {
	Boot bootProperties
}

type bootProperties struct {
	Enabled protocol.OverrideEnabled `json:"BootSourceOverrideEnabled"`
	Target  protocol.BootTarget      `json:"BootSourceOverrideTarget"`
	// Mode is sent only where it has to change: iDRAC 9 answers an unchanged mode
	// with a BIOS job, a second reboot and a boot from disk.
	Mode string `json:"BootSourceOverrideMode,omitempty"`
}

// SetBoot reads the system, writes the override with the ETag just read, and
// reads it back.
func (d *driver) SetBoot(ctx context.Context, want protocol.Override) (protocol.Override, error) {
	c := d.call(ctx, opSetBoot)
	s, err := d.read(c)
	if err != nil {
		return protocol.Override{}, err
	}
	if want.Armed() && len(s.targets) > 0 && !slices.Contains(s.targets, want.Target) {
		return s.override, protocol.Errorf(protocol.CodeUnsupported, c.op, "BMC %s does not offer the boot target %s; it offers %v", d.link.base, want.Target, s.targets).
			WithHint("choose another boot method for this server")
	}
	patch := bootPatch{Boot: bootProperties{Enabled: want.Enabled, Target: want.Target}}
	if mode := s.override.Mode; want.Armed() && mode != "" && mode != wantedMode(want) {
		patch.Boot.Mode = wantedMode(want)
	}
	if err := s.Patch(s.ODataID, patch); err != nil {
		return s.override, err
	}
	back, err := d.read(c)
	if err != nil {
		return protocol.Override{}, err
	}
	return back.override, nil
}

func wantedMode(want protocol.Override) string {
	if want.Mode != "" {
		return want.Mode
	}
	return modeUEFI
}
