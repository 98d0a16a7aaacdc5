package bmc

import (
	"context"
	"time"

	"rackboot/protocol"
)

// ResetType is a Redfish ComputerSystem.Reset ResetType.
type ResetType string

// The reset types that Rackboot sends.
const (
	ResetOn               ResetType = "On"
	ResetForceOff         ResetType = "ForceOff"
	ResetGracefulShutdown ResetType = "GracefulShutdown"
)

// Driver drives one system behind one BMC. Calls are safe for concurrent use
// and serialised per BMC by the driver. Every call must be given a context with
// a deadline; a driver adds its own, shorter ones per request.
//
// Errors are *protocol.Error: denied (credentials refused: do not retry),
// unavailable (no route, refused, busy; see Busy), timeout (outcome unknown),
// unsupported (this BMC cannot do it), invalid (the BMC refused the request's
// form), conflict (refused in the present state).
type Driver interface {
	// Observe reads the system now, never from a cache. It returns an observation
	// in every case: on an error its Power is Unreachable or Unknown and the error
	// is in it as well.
	Observe(ctx context.Context) (protocol.Observation, error)
	// Capabilities reads what the BMC says it can do.
	Capabilities(ctx context.Context) (Capabilities, error)
	// SetBoot writes the override, reads it back and returns what the BMC stored.
	// An override that was accepted and not stored is returned without error:
	// the caller compares. Target None with Disabled disarms.
	SetBoot(ctx context.Context, want protocol.Override) (stored protocol.Override, err error)
	// Reset sends one reset and never repeats it.
	Reset(ctx context.Context, reset ResetType) error
	// Close ends the session and frees connections.
	Close() error
}

// Capabilities is what a BMC says a system can do.
type Capabilities struct {
	Vendor  string
	Model   string
	Targets []protocol.BootTarget // empty: not stated
	Resets  []ResetType           // empty: not stated, try
}

// Target says how to reach one system.
type Target struct {
	Server      string
	Address     string // https://host[:port]; http only on loopback
	SystemURI   string // /redfish/v1/Systems/1; empty selects the only system with Reset and Boot
	Fingerprint string // sha256:<hex of the certificate's DER>; empty if CA is given
	CA          []byte // PEM; empty if Fingerprint is given
	Credentials Credentials
}

// Credentials are a BMC account. They are never logged: String hides both.
type Credentials struct {
	Username string
	Password string
}

// String hides the credentials.
func (Credentials) String() string { return "[credentials]" }

// GoString hides the credentials from %#v.
func (Credentials) GoString() string { return "bmc.Credentials{hidden}" }

// Opener opens a driver for a target. It does not talk to the BMC yet.
type Opener func(Target) (Driver, error)

// Busy is in an error's chain when a BMC asked for a pause (HTTP 503 with or
// without Retry-After, or a change refused during POST). It is a state to wait
// in, not a failure.
type Busy struct {
	RetryAfter time.Duration // 0: not stated
	Reason     string        // the BMC's MessageId, where it gave one
}

// Error says that the BMC is busy.
func (b *Busy) Error() string { return "BMC is busy: " + b.Reason }
