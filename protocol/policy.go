package protocol

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
	FirstBootPxe      FirstBoot = "Pxe"
	FirstBootUefiHTTP FirstBoot = "UefiHttp"
)

// Target is the Redfish override target of the method.
func (f FirstBoot) Target() BootTarget { return BootTarget(f) }

// Boot is the boot method after the first boot (seed 000, Types).
type Boot string

// BootHdd boots from the disk.
const BootHdd Boot = "Hdd"

// BootPolicy says how a server boots across its life under one claim.
type BootPolicy struct {
	FirstBoot FirstBoot `json:"firstBoot"`
	Boot      Boot      `json:"boot,omitempty"`
}

// Default fills Pxe and Hdd (seed 000, Backwards Compatibility).
func (p *BootPolicy) Default() {
	if p.FirstBoot == "" {
		p.FirstBoot = FirstBootPxe
	}
	if p.Boot == "" {
		p.Boot = BootHdd
	}
}

func (p BootPolicy) check(f *FieldErrors, path string) {
	oneOf(f, path+".firstBoot", p.FirstBoot, FirstBootPxe, FirstBootUefiHTTP)
	oneOf(f, path+".boot", p.Boot, BootHdd)
}
