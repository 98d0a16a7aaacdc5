package protocol

import (
	"fmt"
	"slices"
	"strings"
)

// SafeStopFacts are what is known of how a server boots that somebody else powers on.
type SafeStopFacts struct {
	BootOrder   []string
	BootOptions []BootOption
	SecureBoot  *SecureBoot // nil: not known
	// Shell are BIOS attributes that bring the shell as a boot option (HPE).
	Shell []FirmwareSwitch
	BIOS  bool // the BIOS attributes could be read
}

// SafeStopOf is how far the order of boot options keeps a disk from booting. It is reported of servers, and it is what a
// FirmwareProfile with safeStop is judged by. Firmware that boots the network first asks the agent, whatever Secure Boot
// is. With Secure Boot on, firmware refuses an unsigned shell and goes on to the next option, which is the disk.
func SafeStopOf(f SafeStopFacts) SafeStop {
	const other = "put network options first, so that the agent answers with a stop image, or disable the disk options; until then only the agent's watch tells of an unexpected boot"
	first := f.first()
	switch {
	case first.Kind == OptionPXE || first.Kind == OptionHTTP:
		return SafeStop{
			Class: SafeStopNetworkFirst, Option: first.Reference, Reason: "the network is the first boot option: firmware asks the agent",
			Remedy: "with spec.safeStop.networkFirst: stopImage of the Rack firmware is given a stop image; else it is refused, and boots the next option, which may be the disk",
		}
	case f.SecureBoot == nil && (len(f.BootOptions) > 0 || f.BIOS):
		return SafeStop{
			Class: SafeStopUnknown, Reason: "whether Secure Boot is on cannot be read",
			Remedy: "with Secure Boot on, firmware refuses the shell and boots the disk; read its state in the BIOS settings",
		}
	case f.SecureBoot != nil && (f.SecureBoot.Enabled || f.SecureBoot.Current):
		return SafeStop{
			Class: SafeStopNone, Reason: "Secure Boot is on: firmware refuses the shell and boots the next option, which is the disk",
			Remedy: "turn Secure Boot off, or " + other,
		}
	case first.Kind == OptionShell:
		return SafeStop{Class: SafeStopShellFirst, Option: first.Reference, Reason: "the shell is the first boot option, and Secure Boot is off"}
	}
	if i := slices.IndexFunc(f.BootOptions, func(o BootOption) bool { return o.Kind == OptionShell && !o.Disabled }); i >= 0 {
		return f.shellAvailable(f.BootOptions[i].Reference)
	}
	switch {
	case len(f.Shell) > 0:
		return f.shellByBIOS()
	case len(f.BootOptions) == 0:
		return SafeStop{Class: SafeStopUnknown, Reason: "no boot options can be read", Remedy: other}
	}
	return SafeStop{Class: SafeStopNone, Reason: "firmware offers no shell as a boot option", Remedy: other}
}

// first is the first option of the order that is not disabled; of one that is not shown nothing is known.
func (f SafeStopFacts) first() BootOption {
	for _, ref := range f.BootOrder {
		i := slices.IndexFunc(f.BootOptions, func(o BootOption) bool { return o.Reference == ref })
		if i < 0 {
			return BootOption{}
		}
		if !f.BootOptions[i].Disabled {
			return f.BootOptions[i]
		}
	}
	return BootOption{}
}

func (f SafeStopFacts) shellAvailable(shell string) SafeStop {
	s := SafeStop{Class: SafeStopShellAvailable, Option: shell, Reason: "the shell is not in the boot order", Remedy: "put " + shell + " first in Boot.BootOrder"}
	if at := slices.Index(f.BootOrder, shell); at >= 0 {
		s.Reason = fmt.Sprintf("the shell is number %d of %d in the boot order", at+1, len(f.BootOrder))
	}
	return s
}

func (f SafeStopFacts) shellByBIOS() SafeStop {
	var set []string
	for _, s := range f.Shell {
		if s.Value == s.Off {
			set = append(set, s.Name+"="+s.On)
		}
	}
	remedy := "reset the server"
	if len(set) > 0 {
		remedy = "set the BIOS attributes " + strings.Join(set, " and ") + ", and reset the server"
	}
	return SafeStop{
		Class: SafeStopShellByBIOS, Reason: fmt.Sprintf("there is no boot option for the shell: %s is %s", f.Shell[0].Name, f.Shell[0].Value),
		Remedy: remedy + "; then put the shell first in Boot.BootOrder",
	}
}
