package resource

import "rackboot/protocol"

// Power is the power state that somebody wants.
type Power string

// The wanted power states. Empty: nobody wants anything, leave it alone.
const (
	WantOn  Power = "On"
	WantOff Power = "Off"
)

// FirstBoot is the network boot method of the first boot (seed 000, Types).
type FirstBoot string

// The first boot methods.
const (
	FirstBootPxe          FirstBoot = "Pxe"
	FirstBootUefiHTTP     FirstBoot = "UefiHttp"
	FirstBootVirtualMedia FirstBoot = "VirtualMedia" // an ISO in the BMC's drive
)

// FirstBoots lists the first boot methods.
func FirstBoots() []FirstBoot {
	return []FirstBoot{FirstBootPxe, FirstBootUefiHTTP, FirstBootVirtualMedia}
}

// Target is the Redfish override target of the method.
func (f FirstBoot) Target() protocol.BootTarget {
	if f == FirstBootVirtualMedia {
		return protocol.TargetCd
	}
	return protocol.BootTarget(f)
}

// Boot is the boot method after the first boot (seed 000, Types).
type Boot string

// The boot methods.
const (
	BootHdd Boot = "Hdd" // from the disk
	// BootNetwork boots by the first boot's method at each power-on that an operator's
	// intent causes, and never from the disk.
	BootNetwork Boot = "Network"
)

// Boots lists the boot methods.
func Boots() []Boot { return []Boot{BootHdd, BootNetwork} }

// OSReboot says what a restart finds that the operating system does by itself.
type OSReboot string

// What a restart finds. Under both, an installer that has reported its end finds the
// disk once, for its own restart.
const (
	// OSRebootSafeStop: no override. The server's boot order decides, which is to begin
	// with the EFI shell: the server stops, and an operator resumes it.
	OSRebootSafeStop OSReboot = "safeStop"
	// OSRebootRearm: the disk, once, armed again whenever firmware was seen to take it.
	OSRebootRearm OSReboot = "rearm"
)

// OSReboots lists what a restart may find.
func OSReboots() []OSReboot { return []OSReboot{OSRebootSafeStop, OSRebootRearm} }

// BootPolicy says how a server boots across its life under one owner.
type BootPolicy struct {
	FirstBoot FirstBoot `json:"firstBoot"`          // default Pxe
	Boot      Boot      `json:"boot,omitempty"`     // default Hdd
	OSReboot  OSReboot  `json:"osReboot,omitempty"` // default safeStop
	// Network is by which network boot methods firmware may follow an order of one; empty is by that
	// one only.
	Network Network `json:"network,omitempty"`
}

// Network is by which network boot methods firmware may follow an order of Pxe or UefiHttp.
type Network string

// NetworkAny takes either: some firmware answers an order of Pxe by HTTP where PXE is off in its settings
// (Lenovo XCC), or the other way round.
const NetworkAny Network = "any"

// Any says whether either method is taken.
func (n Network) Any() bool { return n == NetworkAny }

// Default fills Pxe and Hdd (seed 000, Backwards Compatibility), and safeStop: the seed
// has no override active once the one for the power-on was consumed.
func (p *BootPolicy) Default() {
	if p.FirstBoot == "" {
		p.FirstBoot = FirstBootPxe
	}
	if p.Boot == "" {
		p.Boot = BootHdd
	}
	if p.OSReboot == "" {
		p.OSReboot = OSRebootSafeStop
	}
}

// Same says whether both mean the same: what is absent is the default.
func (p BootPolicy) Same(o BootPolicy) bool {
	p.Default()
	o.Default()
	return p == o
}

func (p BootPolicy) check(f *fields, path string) {
	oneOf(f, path+".firstBoot", p.FirstBoot, FirstBoots()...)
	oneOf(f, path+".boot", p.Boot, Boots()...)
	oneOf(f, path+".osReboot", p.OSReboot, OSReboots()...)
	if p.Network != "" {
		oneOf(f, path+".network", p.Network, NetworkAny)
		if p.FirstBoot == FirstBootVirtualMedia {
			f.Add(path+".network", "VirtualMedia boots no server from the network; leave it out")
		}
	}
	if p.Boot == BootNetwork && p.OSReboot == OSRebootRearm {
		f.Add(path+".osReboot", "rearm arms the disk, and boot: Network never boots from it; use safeStop")
	}
}
