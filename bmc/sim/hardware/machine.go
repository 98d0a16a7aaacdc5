package hardware

import "rackboot/protocol"

// State is how far a machine has come.
type State string

// The machine states.
const (
	Off     State = "off"     // no power
	Post    State = "post"    // firmware runs, the boot device is not yet picked
	Booting State = "booting" // the picked device boots
	Running State = "running" // an operating system runs
	Shell   State = "shell"   // nothing booted: the EFI shell waits
)

// Machine is a server as its BMC drives it. Implementations are safe for
// concurrent use, and call the Board without holding locks.
type Machine interface {
	// PowerOn applies power. It fails with conflict if power is on.
	PowerOn(board Board) error
	// Shutdown is the ACPI power button: it returns at once, and whether the
	// machine goes off is up to what runs on it.
	Shutdown() error
	// PowerOff cuts power and returns when the machine is off. On a machine that
	// is off it does nothing.
	PowerOff() error
	// State is the state now.
	State() State
	// Close cuts power and frees everything. Disks stay as they are.
	Close() error
}

// Board is the BMC as its machine's firmware sees it.
type Board interface {
	// NextBoot is what the boot override asks for: TargetNone without one.
	NextBoot() protocol.BootTarget
	// BootConsumed says that firmware picked its boot device by that override; an
	// override for once ends with it.
	BootConsumed(protocol.BootTarget)
	// BootURI is what firmware is to load by HTTP; empty leaves that to DHCP.
	BootURI() string
	// Drives are the images in the host's virtual drives now; none where the BMC does not
	// fetch them.
	Drives() []*Medium
	// MachineChanged says that the machine has reached a state.
	MachineChanged(State)
}
