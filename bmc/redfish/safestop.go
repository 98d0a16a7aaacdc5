package redfish

import (
	"fmt"
	"slices"

	"rackboot/protocol"
)

// safeStop is how far the order of boot options keeps a disk from booting. With
// Secure Boot on, firmware refuses an unsigned shell and goes on to the next
// option, which is the disk.
func safeStop(inv protocol.Inventory, bios attributes) protocol.SafeStop {
	const other = "put network options first, so that the agent answers with a stop image, or disable the disk options; until then only the agent's watch tells of an unexpected boot"
	switch {
	case inv.SecureBoot == nil && (len(inv.BootOptions) > 0 || bios != nil):
		return protocol.SafeStop{
			Class: protocol.SafeStopUnknown, Reason: "whether Secure Boot is on cannot be read",
			Remedy: "with Secure Boot on, firmware refuses the shell and boots the disk; read its state in the BIOS settings",
		}
	case inv.SecureBoot != nil && (inv.SecureBoot.Enabled || inv.SecureBoot.Current):
		return protocol.SafeStop{
			Class: protocol.SafeStopNone, Reason: "Secure Boot is on: firmware refuses the shell and boots the next option, which is the disk",
			Remedy: "turn Secure Boot off, or " + other,
		}
	}
	i := slices.IndexFunc(inv.BootOptions, func(o protocol.BootOption) bool { return o.Kind == protocol.OptionShell && !o.Disabled })
	if i >= 0 {
		shell := inv.BootOptions[i].Reference
		at := slices.Index(inv.BootOrder, shell)
		switch {
		case at == 0:
			return protocol.SafeStop{Class: protocol.SafeStopShellFirst, Option: shell, Reason: "the shell is the first boot option, and Secure Boot is off"}
		case at < 0:
			return protocol.SafeStop{
				Class: protocol.SafeStopShellAvailable, Option: shell, Reason: "the shell is not in the boot order",
				Remedy: "put " + shell + " first in Boot.BootOrder",
			}
		default:
			return protocol.SafeStop{
				Class: protocol.SafeStopShellAvailable, Option: shell,
				Reason: fmt.Sprintf("the shell is number %d of %d in the boot order", at+1, len(inv.BootOrder)),
				Remedy: "put " + shell + " first in Boot.BootOrder",
			}
		}
	}
	if name, value, ok := bios.find("UefiShellBootOrder"); ok { // HPE
		shell, present, has := bios.find("EmbeddedUefiShell")
		remedy := fmt.Sprintf("set the BIOS attribute %s=Enabled, and reset the server", name)
		if has && present != "Enabled" {
			remedy = fmt.Sprintf("set the BIOS attributes %s=Enabled and %s=Enabled, and reset the server", shell, name)
		}
		return protocol.SafeStop{
			Class: protocol.SafeStopShellByBIOS, Reason: fmt.Sprintf("there is no boot option for the shell: %s is %s", name, value),
			Remedy: remedy + "; then put the shell first in Boot.BootOrder",
		}
	}
	if len(inv.BootOptions) == 0 {
		return protocol.SafeStop{Class: protocol.SafeStopUnknown, Reason: "no boot options can be read", Remedy: other}
	}
	return protocol.SafeStop{Class: protocol.SafeStopNone, Reason: "firmware offers no shell as a boot option", Remedy: other}
}
