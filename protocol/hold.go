package protocol

import (
	"strings"
	"time"
)

// StopMode is how a server is stopped.
type StopMode string

// The stop modes. A hard hold takes priority over soft ones (seed 002).
const (
	StopSoft StopMode = "soft" // GracefulShutdown, then ForceOff after the soft timeout
	StopHard StopMode = "hard" // ForceOff at once
)

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

// HoldSpec never changes after creation.
type HoldSpec struct {
	Server string   `json:"server"`
	Key    string   `json:"key"`   // chosen by the client, one hold per (owner, key)
	Owner  string   `json:"owner"` // the authenticated caller, set by the hub
	Mode   StopMode `json:"mode"`
	// SoftTimeout overrides the rack's.
	SoftTimeout Duration `json:"softTimeout,omitempty"`
	Reason      string   `json:"reason,omitempty"`
	// Ref is kept as it was given, so that whoever placed the hold can trace it
	// back to its source (seed 002).
	Ref string `json:"ref,omitempty"`
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
	Receipt    *Receipt   `json:"receipt,omitempty"`
	// SignedReceipt is the agent's COSE_Sign1 over Receipt.
	SignedReceipt []byte `json:"signedReceipt,omitempty"`
}

// Default fills the mode: soft (seed 003).
func (h *Hold) Default() {
	h.APIVersion, h.Kind = APIVersion, KindHold
	if h.Spec.Mode == "" {
		h.Spec.Mode = StopSoft
	}
}

// References names the server.
func (h *Hold) References() []Reference {
	return []Reference{{"spec.server", KindServer, h.Spec.Server}}
}

// Validate reports wrong fields.
func (h *Hold) Validate() FieldErrors {
	var f FieldErrors
	h.check(&f)
	f.name("spec.server", h.Spec.Server)
	if k := h.Spec.Key; k == "" || len(k) > 128 || strings.ContainsAny(k, " \t\r\n") {
		f.add("spec.key", "%q is not a key: use 1 to 128 characters without white space", k)
	}
	oneOf(&f, "spec.mode", h.Spec.Mode, StopSoft, StopHard)
	if h.Spec.SoftTimeout != 0 {
		f.between("spec.softTimeout", h.Spec.SoftTimeout, time.Second, time.Hour)
	}
	if len(h.Spec.Reason) > 1024 {
		f.add("spec.reason", "is longer than 1024 bytes")
	}
	if len(h.Spec.Ref) > 1024 {
		f.add("spec.ref", "is longer than 1024 bytes")
	}
	return f
}

// ActiveHold is a hold as it travels to an agent.
type ActiveHold struct {
	ID          string        `json:"id"`
	Server      string        `json:"server"`
	Key         string        `json:"key"`
	Owner       string        `json:"owner"`
	Mode        StopMode      `json:"mode"`
	SoftTimeout time.Duration `json:"softTimeout,omitempty"`
	Ref         string        `json:"ref,omitempty"`
}

// Release ends exactly one hold. It stays in the HoldDoc until the agent has
// acknowledged it, so that a lost document cannot lose it.
type Release struct {
	HoldID string    `json:"holdId"`
	Server string    `json:"server"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
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
	// Incarnation is the agent's that the request was first sent to. Another one
	// cannot know whether it was done, and says so instead of doing it (P9).
	Incarnation string `json:"incarnation,omitempty"`
}

// Precondition is what must be true for a request to be accepted. Zero values
// are not checked.
type Precondition struct {
	Power    PowerState `json:"power,omitempty"`
	ClaimUID string     `json:"claimUID,omitempty"`
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
)
