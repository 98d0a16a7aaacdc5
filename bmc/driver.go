package bmc

import (
	"context"
	"fmt"
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
	ResetForceRestart     ResetType = "ForceRestart"
	ResetGracefulRestart  ResetType = "GracefulRestart"
)

// Driver drives one system behind one BMC. Calls are safe for concurrent use
// and serialised per BMC by the driver. Every call must be given a context with
// a deadline; a driver adds its own, shorter ones per request.
//
// Errors are *protocol.Error: denied (credentials refused: do not retry),
// unavailable (no route, refused, busy; see Busy and Tripped), timeout (outcome
// unknown), unsupported (this BMC cannot do it), invalid (the BMC refused the
// request's form), conflict (refused in the present state).
//
// A Driver may also be a [Lister], an [Inventorier], a [Prober], a [FirmwareReader], a [FirmwareWriter], a [MediaDriver], a
// [RestorePolicer], a [PowerLogger], a [URIBooter], an [EventSource], a [Subscriber] and an
// [Accounts].
type Driver interface {
	// Observe reads the system now, never from a cache and never by a 304. It
	// returns an observation in every case: on an error its Power is Unreachable or
	// Unknown and the error is in it as well.
	//
	// The override in it is what the BMC holds for the next boot, in the words of
	// the last SetBoot: where SetBoot ended PendingReset or Aliased, it is shown as
	// it was wanted for as long as the BMC holds it.
	Observe(ctx context.Context) (protocol.Observation, error)
	// Capabilities reads what the BMC says it can do.
	Capabilities(ctx context.Context) (Capabilities, error)
	// SetBoot writes the override, reads it back and says what the BMC stored. A
	// write that was answered with success and not stored is a result without an
	// error. Target None with Disabled disarms; with an empty Enabled it is written alone,
	// for BMCs that refuse Disabled. The result is filled as far as it is known with an
	// error, too.
	SetBoot(ctx context.Context, want protocol.Override) (BootResult, error)
	// Reset sends one reset and never repeats one that may have been done. ForceOff overtakes what waits for
	// the same BMC. Being already in the wanted state is a conflict: read to know.
	Reset(ctx context.Context, reset ResetType) error
	// Close ends the session, if this was the last driver that used it, and frees
	// connections. It takes a few seconds at most.
	Close() error
}

// URIBooter is a driver that tells firmware what to load.
type URIBooter interface {
	// SetBootURI is SetBoot of the target UefiHttp with the URL that firmware is to load
	// (ComputerSystem.Boot.HttpBootUri), written before the override or with it. A BMC that
	// shows no such property is unsupported, and so is one that does not keep the URL. No
	// log has the URL, and no error but where it quotes the BMC.
	SetBootURI(ctx context.Context, want protocol.Override, uri string) (BootResult, error)
	// ClearBootURI takes each HttpBootUri out of the BMC of which ours says so, whatever
	// override is armed, and reads back. Where there is none, nothing is written. Pending is
	// that the BMC shows it until the server's next reset. Errors: unsupported if the BMC
	// keeps it.
	ClearBootURI(ctx context.Context, ours func(uri string) bool) (pending bool, err error)
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
	LegacyTLS   bool   // what package oldtls names is used; without, such a BMC is denied
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

// Tripped is in an error's chain when nothing was sent, because the last
// exchanges with this BMC all failed before an answer. ForceOff is sent anyway.
type Tripped struct {
	RetryAfter time.Duration // until the next request is let through as a probe
	Failures   int           // in a row
	Last       string        // what the last one failed with, in one line without credentials
}

// Error says why nothing was sent.
func (t *Tripped) Error() string {
	return fmt.Sprintf("%d exchanges in a row had no answer, the last: %s; the next is tried in %s", t.Failures, t.Last, t.RetryAfter.Round(time.Millisecond))
}
