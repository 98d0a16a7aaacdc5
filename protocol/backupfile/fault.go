package backupfile

import (
	"fmt"

	"rackboot/protocol"
)

// Fault is what is wrong with a backup.
type Fault string

// The faults.
const (
	FaultForeign  Fault = "foreign"  // it is no backup of a hub
	FaultNewer    Fault = "newer"    // a newer release wrote it
	FaultCut      Fault = "cut"      // it ends early
	FaultDamaged  Fault = "damaged"  // a sum does not fit
	FaultAfter    Fault = "after"    // something comes after its end
	FaultHeader   Fault = "header"   // its header cannot be read
	FaultKey      Fault = "key"      // no key that was given opens it
	FaultContent  Fault = "content"  // what is in it is no archive
	FaultMember   Fault = "member"   // a member has a name or kind that no backup has
	FaultManifest Fault = "manifest" // the manifest is missing, or is not that of the members
)

// Damage says what is wrong with a backup, and where.
type Damage struct {
	Fault  Fault
	At     int64  // the first byte of the file that is known to be wrong, or that is missing
	Member string // empty outside of one
	Err    error
}

// Error implements error.
func (d *Damage) Error() string {
	where := fmt.Sprintf("at byte %d", d.At)
	if d.Member != "" {
		where += ", in " + d.Member
	}
	return fmt.Sprintf("%s %s: %v", d.Fault, where, d.Err)
}

// Unwrap returns the cause.
func (d *Damage) Unwrap() error { return d.Err }

// hint is what to do about it.
func (d *Damage) hint() string {
	switch d.Fault {
	case FaultForeign:
		return "give a file that rackctl backup create or a hub wrote"
	case FaultNewer:
		return "use the release that wrote it, or a newer one"
	case FaultKey:
		return "give the identity (--identity) or the passphrase (--passphrase-file) that it was encrypted for"
	case FaultCut, FaultDamaged, FaultAfter, FaultHeader, FaultContent, FaultMember, FaultManifest:
	}
	return "use another backup; nothing of this one was taken over"
}

// refused wraps a Damage as the package's error; the code is invalid, of a newer one unsupported.
func refused(op string, d *Damage) error {
	code := protocol.CodeInvalid
	if d.Fault == FaultNewer {
		code = protocol.CodeUnsupported
	}
	return protocol.Errorf(code, op, "%w", d).WithHint("%s", d.hint())
}
