package resource

import (
	"fmt"
	"log/slog"
)

// BMCAccount is a user of a BMC. It prints and logs as nothing.
type BMCAccount struct {
	Username, Password string
}

// DropOld is what becomes of a BMC's former user.
type DropOld string

// The ways. A user that is the same as the next one is not dropped.
const (
	DropNever    DropOld = ""         // it stays
	DropDisable  DropOld = "disable"  // it is disabled
	DropPassword DropOld = "password" // it gets a random password that nobody keeps
)

// DropsOld lists the ways.
func DropsOld() []DropOld { return []DropOld{DropNever, DropDisable, DropPassword} }

// Format writes no account, whatever the verb.
func (BMCAccount) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(redacted)) } // as fmt itself does

// LogValue is not the account.
func (BMCAccount) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON is null.
func (BMCAccount) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// MarshalCBOR is null.
func (BMCAccount) MarshalCBOR() ([]byte, error) { return []byte{cborNull}, nil }
