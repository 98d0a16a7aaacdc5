package bmc

import (
	"context"

	"rackboot/protocol"
)

// FirmwareReader reads how the firmware of a server is set. It never delays power control.
type FirmwareReader interface {
	// Firmware reads the settings that are known, and the BIOS attributes of these names, at most
	// [protocol.MaxFirmwareAttributes]. The number of its question may be left out of a name. As with
	// Inventory, a part that cannot be read is in Problems, and the error is for a system that cannot
	// be read at all.
	Firmware(ctx context.Context, names []string) (protocol.Firmware, error)
}

// FirmwareWriter writes how the firmware of a server is to be set.
type FirmwareWriter interface {
	// WriteFirmware writes what is not so yet of the changes that have no hindrance, and reads back. What counts only
	// after a reset waits for one, which is the caller's. Where a BMC takes one such job at a time (Dell), the
	// rest is left for the next pass. Repeating it is safe: what is so, or waits, is not written again.
	//
	// The outcomes are filled as far as they are known with an error, too. Errors are those of a Driver:
	// unsupported where it is not known how the vendor's settings are written, conflict while another
	// change waits at the BMC.
	WriteFirmware(ctx context.Context, changes []protocol.FirmwareChange) ([]FirmwareWritten, error)
}

// FirmwareOutcome is what became of a change.
type FirmwareOutcome string

// The outcomes.
const (
	FirmwareInForce FirmwareOutcome = "in-force"
	FirmwareWaits   FirmwareOutcome = "waits"  // for a reset
	FirmwareUnseen  FirmwareOutcome = "unseen" // the BMC took it, and shows it nowhere
	FirmwareLater   FirmwareOutcome = "later"  // not written: it is for the next pass
)

// FirmwareWritten is what became of one change.
type FirmwareWritten struct {
	Setting string // of the change
	Outcome FirmwareOutcome
}
