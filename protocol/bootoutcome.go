package protocol

// BootOutcome is what became of a boot override that was written.
type BootOutcome string

// The outcomes. The first three will boot what was wanted.
const (
	// BootStored: the system shows it.
	BootStored BootOutcome = "Stored"
	// BootPendingReset: it was accepted for the next reset and shows in the settings
	// object only (AMI and Lenovo TSM /SD, BIOS jobs).
	BootPendingReset BootOutcome = "PendingReset"
	// BootAliased: the BMC shows it under another name (Dell R640: Pxe reads as
	// UefiTarget; Supermicro: Pxe reads as UefiBootNext).
	BootAliased BootOutcome = "Aliased"
	// BootDropped: answered with success, and the old values are still there.
	BootDropped BootOutcome = "Dropped"
	// BootCoercedContinuous: Once reads back as Continuous (kubevirtbmc). It stays
	// armed until it is cleared.
	BootCoercedContinuous BootOutcome = "CoercedContinuous"
	// BootReverted: answered with success, and something else was stored, such as
	// Legacy or Disabled (Supermicro AS-1015CS).
	BootReverted BootOutcome = "Reverted"
	// BootRefusedByState: not now; with an error.
	BootRefusedByState BootOutcome = "RefusedByState"
	// BootUnsupported: never on this BMC; with an error.
	BootUnsupported BootOutcome = "Unsupported"
	// BootUnknown: the write or its read-back had no answer; with an error.
	BootUnknown BootOutcome = "Unknown"
)

// BootOutcomes lists all outcomes.
func BootOutcomes() []BootOutcome {
	return []BootOutcome{
		BootStored, BootPendingReset, BootAliased, BootDropped, BootCoercedContinuous, BootReverted,
		BootRefusedByState, BootUnsupported, BootUnknown,
	}
}

// OK says whether the next boot will be as wanted, as far as a BMC can tell.
func (o BootOutcome) OK() bool {
	return o == BootStored || o == BootPendingReset || o == BootAliased
}
