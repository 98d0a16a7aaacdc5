package bmc

import "context"

// Role is a standard role of Redfish (DSP0266, roles).
type Role string

// The roles that Rackboot gives.
const (
	RoleOperator      Role = "Operator"      // boot, power and its own password
	RoleAdministrator Role = "Administrator" // and the accounts of others
)

// Accounts is a Driver that changes who may use its BMC.
type Accounts interface {
	// Prove logs in anew, with no session and no refusal of before, and reads the
	// system: its power state and its reset action must be there. Errors are those of a
	// Driver, denied only where the BMC itself refused the account; one with Limited in its chain says that the account logs in and that this
	// is not enough.
	Prove(ctx context.Context) error
	// PutAccount makes want log in: it changes the password of the user of that name,
	// which may be the driver's own, or adds the user with the role. It does not say
	// that want logs in now; prove it. The codes are those of a Driver: invalid for a
	// password that the BMC does not take, unsupported where accounts cannot be
	// changed, timeout where the outcome is unknown.
	PutAccount(ctx context.Context, want Credentials, role Role) error
	// DisableAccount disables a user. One that is not there is disabled.
	DisableAccount(ctx context.Context, username string) error
}

// Limited is in an error's chain when an account logs in and may not do what is needed.
type Limited struct {
	// MustChange: the BMC wants another password before it allows anything else.
	MustChange bool
}

// Error says what is missing.
func (l *Limited) Error() string {
	if l.MustChange {
		return "the account's password must be changed first"
	}
	return "the account logs in and has not the rights to read and reset the system"
}
