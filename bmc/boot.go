package bmc

import "rackboot/protocol"

// BootOutcome is what became of a boot override that was written.
type BootOutcome = protocol.BootOutcome

// The outcomes, as in package protocol.
const (
	BootStored            = protocol.BootStored
	BootPendingReset      = protocol.BootPendingReset
	BootAliased           = protocol.BootAliased
	BootDropped           = protocol.BootDropped
	BootCoercedContinuous = protocol.BootCoercedContinuous
	BootReverted          = protocol.BootReverted
	BootRefusedByState    = protocol.BootRefusedByState
	BootUnsupported       = protocol.BootUnsupported
	BootUnknown           = protocol.BootUnknown
)

// BootResult is what came of SetBoot.
type BootResult struct {
	// Stored is what the BMC holds for the next boot, in the caller's words: with
	// an outcome that is OK it is what was wanted.
	Stored protocol.Override
	// Read is what was read back, as the BMC spells it.
	Read    protocol.Override
	Outcome BootOutcome
	// Where is the path of the resource that took the write; empty if none did.
	Where string
	// Text says in a line what happened, for people.
	Text string
}
