package resource

import (
	"fmt"
	"time"

	"rackboot/protocol"
)

// ApprovalClass is a kind of action that the everyday key of a hub alone does not
// cause where an agent knows a destructive key.
type ApprovalClass string

// The classes.
const (
	// ApproveBulkStop: ForceOff of more servers of a rack than its agent's own file
	// lets pass. Targets are servers.
	ApproveBulkStop ApprovalClass = "bulk-stop"
	// ApproveHoldOverride: the release of a hold by somebody else than its owner.
	// Targets are ids of holds.
	ApproveHoldOverride ApprovalClass = "hold-override"
	// ApproveReprovision: a grant for a server that may have an installed system, by
	// rackctl server adopt --reprovision, or one that its agent knows to have been installed
	// for the same claim. Targets are servers, with an [ApprovedBoot] each.
	ApproveReprovision ApprovalClass = "reprovision"
	// ApproveWipe: a maintenance that boots a destructive environment, which discards what
	// is on a server's disks. Targets are servers, with an [ApprovedBoot] each.
	ApproveWipe ApprovalClass = "wipe"
	// ApproveFirmware: a maintenance that writes settings of firmware. Targets are servers, with an
	// [ApprovedBoot] each.
	ApproveFirmware ApprovalClass = "firmware"
)

// approvalClasses lists all classes.
var approvalClasses = []ApprovalClass{ApproveBulkStop, ApproveHoldOverride, ApproveReprovision, ApproveWipe, ApproveFirmware}

// The limits of an approval.
const (
	// MaxApprovalTargets bounds what one approval allows.
	MaxApprovalTargets = 512
	// MaxApprovalLife is the longest time from NotBefore to NotAfter.
	MaxApprovalLife = 24 * time.Hour
	// MaxApprovals bounds the approvals of one hold document, and what an agent keeps of
	// them.
	MaxApprovals = 16
	// maxApprovalBy bounds who approved.
	maxApprovalBy = 8
)

// Approval allows destructive actions of one class on the targets that it names, each
// once. It is signed by the destructive key, for one agent.
type Approval struct {
	ID    string        `json:"id"`
	Class ApprovalClass `json:"class"`
	Rack  string        `json:"rack"`
	// AgentKey is the Ed25519 public key of the agent that may act on it: racks of two
	// hubs may have the same name.
	AgentKey []byte   `json:"agentKey"`
	Targets  []string `json:"targets"`
	// Boots say of each target of the classes wipe and reprovision what may be booted; the
	// others have none.
	Boots []ApprovedBoot `json:"boots,omitempty"`
	// By are who granted it, in that order.
	By     []string `json:"by,omitempty"`
	Reason string   `json:"reason,omitempty"`
	// NotBefore and NotAfter are by the clock of who signs.
	NotBefore time.Time `json:"notBefore"`
	NotAfter  time.Time `json:"notAfter"`
}

// Validate reports wrong fields.
func (a Approval) Validate() protocol.FieldErrors {
	var f fields
	if !protocol.ValidName(a.ID) {
		f.Add("id", "%.80q is not an id", a.ID)
	}
	oneOf(&f, "class", a.Class, approvalClasses...)
	if len(a.AgentKey) != 32 {
		f.Add("agentKey", "is not an Ed25519 public key")
	}
	if n := len(a.Targets); n == 0 || n > MaxApprovalTargets {
		f.Add("targets", "has %d entries; give 1 to %d", n, MaxApprovalTargets)
	}
	for i, t := range a.Targets {
		if !protocol.ValidName(t) {
			f.Add(fmt.Sprintf("targets[%d]", i), "%.80q is not a name", t)
		}
	}
	a.checkBoots(&f)
	if !protocol.ValidName(a.Rack) {
		f.Add("rack", "%.80q is not a name", a.Rack)
	}
	if n := len(a.By); n > maxApprovalBy {
		f.Add("by", "has %d entries; give at most %d", n, maxApprovalBy)
	}
	if len(a.Reason) > 1024 {
		f.Add("reason", "is longer than 1024 bytes")
	}
	switch life := a.NotAfter.Sub(a.NotBefore); {
	case a.NotBefore.IsZero() || life <= 0:
		f.Add("notAfter", "is not after notBefore")
	case life > MaxApprovalLife:
		f.Add("notAfter", "is %s after notBefore; at most %s", life, MaxApprovalLife)
	}
	return f.FieldErrors
}

// ApprovalStance is what an agent wants for destructive actions. An agent without keys
// does whatever the everyday key signs.
type ApprovalStance struct {
	// Keys are the destructive keys that it knows, Ed25519 public keys.
	Keys [][]byte `json:"keys,omitempty"`
	// BulkStop is how many servers may be forced off within Window without an approval;
	// 0 does not bound it.
	BulkStop int           `json:"bulkStop,omitempty"`
	Window   time.Duration `json:"window,omitempty"`
}

// ApprovalState is how far the wish for an approval has come.
type ApprovalState string

// The states.
const (
	ApprovalPending  ApprovalState = "Pending"  // waits for people
	ApprovalGranted  ApprovalState = "Granted"  // waits for the destructive key
	ApprovalApproved ApprovalState = "Approved" // goes to the agent
	ApprovalDenied   ApprovalState = "Denied"
	ApprovalExpired  ApprovalState = "Expired" // nobody approved it in time
	ApprovalEnded    ApprovalState = "Ended"   // it was approved, and its time is over
)

// ApprovalStates lists all states.
func ApprovalStates() []ApprovalState {
	return []ApprovalState{ApprovalPending, ApprovalGranted, ApprovalApproved, ApprovalDenied, ApprovalExpired, ApprovalEnded}
}

// Over says whether nothing comes of the wish any more.
func (s ApprovalState) Over() bool {
	return s == ApprovalDenied || s == ApprovalExpired || s == ApprovalEnded
}

// ApprovalSubject is the roll-out that asks for an approval: no other is let through by it.
type ApprovalSubject struct {
	Target        // the ServerGroup
	Revision int  `json:"revision"`
	Returns  bool `json:"returns,omitempty"` // it returns from that revision
	Wave     int  `json:"wave"`
}

// ApprovalRequest is the wish for an approval, made by the hub when an action needs one.
type ApprovalRequest struct {
	// Approval is what is signed; By are who has granted it so far.
	Approval
	State ApprovalState `json:"state"`
	// Version grows with the targets: who grants says which version was read.
	Version int `json:"version"`
	// Subject is what asks, if that is more than its targets.
	Subject *ApprovalSubject `json:"subject,omitempty"`
	// Asked are who caused the action.
	Asked []string `json:"asked,omitempty"`
	// Approvers is how many must grant it; the last of two is none of Asked.
	Approvers int `json:"approvers"`
	// NeedsKey says that the rack's agent wants the signature of the destructive key.
	NeedsKey  bool      `json:"needsKey,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	// Signed is the approval as COSE_Sign1; SignedAt is when the hub got it.
	Signed   []byte     `json:"signed,omitempty"`
	SignedAt *time.Time `json:"signedAt,omitempty"`
	DeniedBy string     `json:"deniedBy,omitempty"`
	// Message says why it is not further, or how it ended.
	Message string `json:"message,omitempty"`
}
