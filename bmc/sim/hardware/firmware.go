package hardware

import (
	"context"

	"rackboot/protocol"
)

// Firmware boots a simulated machine from a target, with real packets where it
// is a network target.
type Firmware interface {
	// Boot tries the target: Pxe, UefiHttp, Cd or UsbCd with an image inserted, or
	// Hdd when a disk is installed. nil
	// means that a system now runs; an error means that firmware falls through to
	// the EFI shell. ctx ends when power goes or the machine resets. Boot may
	// return only when the system ends, after Guest.Running.
	Boot(ctx context.Context, guest *Guest, target protocol.BootTarget) error
}

// Guest is what runs on a simulated machine between power-on or reset and the
// next. After that its methods do nothing.
type Guest struct {
	machine *Simulated
	run     *run
}

// Running says that an operating system runs: the power button is heeded from
// now on.
func (g *Guest) Running() { g.machine.advance(g.run, Running) }

// PowerOff switches the machine off, as a guest's poweroff does.
func (g *Guest) PowerOff() { g.machine.cut(g.run) }

// Reset restarts the machine through POST, as a guest's reboot does.
func (g *Guest) Reset() { g.machine.reset(g.run) }

// BootURI is what the BMC gives the firmware to load by HTTP; empty leaves that to DHCP.
func (g *Guest) BootURI() string { return g.run.board.BootURI() }

// Drives are the images in the virtual drives of the machine.
func (g *Guest) Drives() []*Medium { return g.run.board.Drives() }

// Disk is the machine's disk.
func (g *Guest) Disk() *Disk { return g.machine.disk }

// The override targets of virtual media.
const (
	TargetCd    protocol.BootTarget = "Cd"
	TargetUsbCd protocol.BootTarget = "UsbCd"
)

// IsMedium says whether a target is an image in a virtual drive.
func IsMedium(t protocol.BootTarget) bool { return t == TargetCd || t == TargetUsbCd }
