package resource

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"rackboot/protocol"
)

// StopMode is how a server is stopped.
type StopMode string

// The stop modes. A hard hold takes priority over soft ones (seed 002).
const (
	StopSoft StopMode = "soft" // GracefulShutdown, then ForceOff after the soft timeout
	StopHard StopMode = "hard" // ForceOff at once
)

// OnExpiry is what happens when a hold's time to live is over.
type OnExpiry string

// What a hold does when its time is over.
const (
	ExpiryKeep    OnExpiry = "keep"    // it stays, and a condition says that it expired
	ExpiryRelease OnExpiry = "release" // it ends, as its owner had asked
)

// HoldState is where a held server stands, for people. Only [HoldFenced] and
// [HoldConfirmed] say that it does not run.
type HoldState string

// The states.
const (
	StateAccepted    HoldState = "Accepted"    // in the hub's store
	StateEnforced    HoldState = "Enforced"    // on the agent's disk, nothing read since
	StateStopping    HoldState = "Stopping"    // GracefulShutdown, or waits for Off
	StateForcing     HoldState = "Forcing"     // ForceOff was sent
	StateFenced      HoldState = "Fenced"      // a receipt
	StateConfirmed   HoldState = "Confirmed"   // an operator says that it is down
	StateViolated    HoldState = "Violated"    // it ran under the hold, and is not proved off again
	StateUnreachable HoldState = "Unreachable" // nothing is known; never the same as stopped
	StateReleasing   HoldState = "Releasing"   // released at the hub, and the agent has not said so
	StateStale       HoldState = "Stale"       // what is said of the server is older than three polls
)

// HoldStates lists all states.
func HoldStates() []HoldState {
	return []HoldState{StateAccepted, StateEnforced, StateStopping, StateForcing, StateFenced, StateConfirmed, StateViolated, StateUnreachable, StateReleasing, StateStale}
}

// Confirmation is an operator's word that a server is down whose BMC does not say
// so. It is a statement, not a proof.
type Confirmation struct {
	By     string    `json:"by"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// HoldWord is how far a hold has come; see the package comment.
type HoldWord string

// The words.
const (
	HoldAccepted HoldWord = "Accepted"
	HoldEnforced HoldWord = "Enforced"
	HoldFenced   HoldWord = "Fenced"
	HoldReleased HoldWord = "Released"
)

// Hold keeps a server off until it is released by id. Its name is its id, a
// ULID in lower case; several holds may lie on one server.
type Hold struct {
	Header
	Spec   HoldSpec   `json:"spec"`
	Status HoldStatus `json:"status,omitzero"`
}

// HoldSpec never changes after creation. It is the same at the hub, on its way and at the
// agent.
type HoldSpec struct {
	Server string `json:"server"`
	Owner  string `json:"owner"` // the authenticated caller, set by the hub or the agent
	HoldTerms
}

// HoldTerms is what a client says of the hold that it wants.
type HoldTerms struct {
	Key  string   `json:"key"`            // chosen by the client, one hold per (owner, key)
	Mode StopMode `json:"mode,omitempty"` // default soft
	// SoftTimeout overrides the rack's.
	SoftTimeout protocol.Duration `json:"softTimeout,omitzero"`
	Reason      string            `json:"reason,omitempty"`
	// Ref is kept as it was given, so that whoever placed the hold can trace it
	// back to its source (seed 002).
	Ref string `json:"ref,omitempty"`
	// TTL is how long the hold lies, counted from when it is enforced and only while
	// the agent runs; 0 is until it is released.
	TTL protocol.Duration `json:"ttl,omitzero"`
	// OnExpiry says what happens then. Default keep.
	OnExpiry OnExpiry `json:"onExpiry,omitempty"`
	// ForceDuringFirmware stops the server also during firmware work that is marked
	// as uninterruptible.
	ForceDuringFirmware bool `json:"forceDuringFirmware,omitempty"`
}

// Stops is what of the hold decides how its server is stopped. Who placed it, and why, is
// left out.
func (s HoldSpec) Stops() HoldSpec {
	s.Owner, s.Key, s.Reason, s.Ref = "", "", "", ""
	return s
}

// Becomes compares how h stops its server with how next does, which has the same id. It may be the same,
// or harder, where h is soft and next hard and nothing else differs. No hold gets softer.
func (s HoldSpec) Becomes(next HoldSpec) (same, harder bool) {
	a, b := s.Stops(), next.Stops()
	if a == b {
		return true, false
	}
	harder = a.Mode != StopHard && b.Mode == StopHard
	a.Mode = b.Mode
	return false, harder && a == b
}

// HoldStatus is filled from reports when it is printed; ReleasedAt is stored.
type HoldStatus struct {
	// Rack is the server's when the hold was accepted: the release still finds its
	// agent when the server is not at the hub any more.
	Rack       string     `json:"rack,omitempty"`
	Word       HoldWord   `json:"word,omitempty"`
	EnforcedAt *time.Time `json:"enforcedAt,omitempty"`
	ReleasedAt *time.Time `json:"releasedAt,omitempty"`
	ReleasedBy string     `json:"releasedBy,omitempty"`
	// ReleaseReason is why somebody else than the owner released the hold.
	ReleaseReason string `json:"releaseReason,omitempty"`
	// ConfirmedDown is stored.
	ConfirmedDown *Confirmation `json:"confirmedDown,omitempty"`
	// State says more than Word; Message why it is not further.
	State   HoldState `json:"state,omitempty"`
	Message string    `json:"message,omitempty"`
	// ExpiredAt is when the time to live was over, by the agent's clock.
	ExpiredAt *time.Time `json:"expiredAt,omitempty"`
	// ReadAt is when the last read of the server began that is on the agent's disk, by the
	// clock of who says it. Stale says that it is older than [StaleAfter]: State and Receipt
	// are of then, and prove nothing of now.
	ReadAt *time.Time `json:"readAt,omitempty"`
	Stale  bool       `json:"stale,omitempty"`
	// Limit is what keeps the hold from being forced; empty if nothing is known to.
	Limit   HoldLimit `json:"limit,omitempty"`
	Receipt *Receipt  `json:"receipt,omitempty"`
	// SignedReceipt is the agent's COSE_Sign1 over Receipt.
	SignedReceipt []byte `json:"signedReceipt,omitempty"`
}

// Default fills the mode: soft (seed 003).
func (h *Hold) Default() {
	h.APIVersion, h.Kind = APIVersion, KindHold
	if h.Spec.Mode == "" {
		h.Spec.Mode = StopSoft
	}
	if h.Spec.TTL != 0 && h.Spec.OnExpiry == "" {
		h.Spec.OnExpiry = ExpiryKeep
	}
}

// References names the server.
func (h *Hold) References() []Reference {
	return []Reference{{"spec.server", KindServer, h.Spec.Server}}
}

// Validate reports wrong fields.
func (h *Hold) Validate() protocol.FieldErrors {
	var f fields
	h.check(&f)
	f.name("spec.server", h.Spec.Server)
	if k := h.Spec.Key; !validHoldKey(k) {
		f.Add("spec.key", "%q is not a key: use 1 to 128 characters without white space and control characters", k)
	}
	oneOf(&f, "spec.mode", h.Spec.Mode, StopSoft, StopHard)
	if h.Spec.SoftTimeout != 0 {
		f.between("spec.softTimeout", h.Spec.SoftTimeout, time.Second, time.Hour)
	}
	switch {
	case h.Spec.TTL != 0:
		f.between("spec.ttl", h.Spec.TTL, time.Minute, maxTTL)
		oneOf(&f, "spec.onExpiry", h.Spec.OnExpiry, ExpiryKeep, ExpiryRelease)
	case h.Spec.OnExpiry != "":
		f.Add("spec.onExpiry", "means nothing without spec.ttl")
	}
	if len(h.Spec.Reason) > 1024 {
		f.Add("spec.reason", "is longer than 1024 bytes")
	}
	if len(h.Spec.Ref) > 1024 {
		f.Add("spec.ref", "is longer than 1024 bytes")
	}
	return f.FieldErrors
}

func validHoldKey(k string) bool {
	return k != "" && len(k) <= 128 && utf8.ValidString(k) &&
		!strings.ContainsFunc(k, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}

// maxTTL bounds the time to live of a hold that has one.
const maxTTL = 30 * 24 * time.Hour

// ActiveHold is a hold as it travels to an agent.
type ActiveHold struct {
	ID string `json:"id"`
	HoldSpec
	// ConfirmedDown may be added after the hold was placed, and a soft hold may become hard;
	// nothing else changes of how it stops its server.
	ConfirmedDown *Confirmation `json:"confirmedDown,omitempty"`
}

// Release ends exactly one hold. It stays in the HoldDoc until the agent has
// acknowledged it, so that a lost document cannot lose it.
type Release struct {
	HoldID string    `json:"holdId"`
	Server string    `json:"server"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	// Reason is given where somebody else than the hold's owner releases it.
	Reason string `json:"reason,omitempty"`
}

// RequestAction is what a one-shot request asks for.
type RequestAction string

// The actions.
const (
	// RequestReboot stops the server and starts it again with the boot that its
	// claim prescribes (seed 002, basic form).
	RequestReboot RequestAction = "reboot"
	// RequestPowerOff stops a server that no claim wants On.
	RequestPowerOff RequestAction = "power-off"
	// RequestResume boots a server on, as its owner prescribes, that something else
	// stopped or started.
	RequestResume RequestAction = "resume"
)

// Request is a one-shot. It is done at most once, and never after NotAfter.
type Request struct {
	ID     string        `json:"id"`
	Server string        `json:"server"`
	Action RequestAction `json:"action"`
	Mode   StopMode      `json:"mode"`
	By     string        `json:"by"`
	// NotAfter is mandatory: a request that was queued for hours must not fire.
	NotAfter time.Time `json:"notAfter"`
	// Precondition must hold when the agent accepts the request.
	Precondition Precondition `json:"precondition,omitzero"`
	// AnyPhase lets the request act where the server is not Reserved: without a claim,
	// and during its first boot, which it ends.
	AnyPhase bool `json:"anyPhase,omitempty"`
	// Ref is kept as it was given.
	Ref string `json:"ref,omitempty"`
	// Why is for people; a resume has one.
	Why string `json:"why,omitempty"`
	// Retry lets a resume boot from the network once more, with a grant that is used up:
	// what an installer has begun begins anew.
	Retry bool `json:"retry,omitempty"`
	// Cancelled is who takes it back; empty if nobody does. It ends so if nothing was sent for it.
	Cancelled string `json:"cancelled,omitempty"`
	// Incarnation is the agent's that the request was first sent to. Another one
	// cannot know whether it was done, and says so instead of doing it (P9).
	Incarnation string `json:"incarnation,omitempty"`
}

// Precondition is what must be true for a request to be accepted. Zero values
// are not checked.
type Precondition struct {
	Power    protocol.PowerState `json:"power,omitempty"`
	OwnerUID string              `json:"ownerUID,omitempty"`
}

// Outcome is how a request ended.
type Outcome string

// The outcomes. Pending is none yet.
const (
	OutcomePending Outcome = "pending"
	OutcomeDone    Outcome = "done"
	OutcomeUnknown Outcome = "unknown" // sent, and the agent cannot tell whether it happened
	OutcomeExpired Outcome = "expired" // NotAfter passed before it was begun
	OutcomeRefused Outcome = "refused" // the precondition or the server's state forbids it
	// OutcomeCancelled is that somebody took it back before anything was sent for it.
	OutcomeCancelled Outcome = "cancelled"
)

// Ended reports whether the request is over.
func (o Outcome) Ended() bool { return o != "" && o != OutcomePending }
