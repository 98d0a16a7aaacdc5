package api

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// HoldRequest asks for a hold. The same request again, by the same caller with
// the same key, returns the hold that it made the first time.
type HoldRequest struct {
	resource.HoldTerms
}

// ReleaseRequest releases a hold. Only its owner may; BreakGlass is the reason why
// somebody else does, and needs the right to it.
type ReleaseRequest struct {
	BreakGlass string `json:"breakGlass,omitempty"`
}

// ConfirmRequest says that a held server is down whose BMC does not answer.
type ConfirmRequest struct {
	Reason string `json:"reason"`
}

// DiscoverRequest asks for another discovery of a server. There is nothing to say.
type DiscoverRequest struct{}

// FirmwareRequest marks firmware work that must not be interrupted, For how long at
// most; 0 ends the mark.
type FirmwareRequest struct {
	Reason string            `json:"reason,omitempty"`
	For    protocol.Duration `json:"for,omitempty"`
}

// AnnotationRequest is a reboot annotation of metal3: reboot.metal3.io asks for one
// reboot, reboot.metal3.io/KEY for a hold. Value is JSON, or empty.
type AnnotationRequest struct {
	Annotation string `json:"annotation"`
	Value      string `json:"value,omitempty"`
}

// AnnotationAnswer is what the annotation became: one of the two.
type AnnotationAnswer struct {
	Hold    *resource.Hold `json:"hold,omitempty"`
	Request *RequestStatus `json:"request,omitempty"`
}

// RebootRequest asks for one reboot, or for one power-off of a server that no claim
// wants On. The same Ref again, by the same caller for the same server and action, is
// the same request while that has not ended.
type RebootRequest struct {
	Action resource.RequestAction `json:"action,omitempty"` // default reboot
	Mode   resource.StopMode      `json:"mode,omitempty"`   // default soft
	// AnyPhase and Ref as in [resource.Request].
	AnyPhase bool   `json:"anyPhase,omitempty"`
	Ref      string `json:"ref,omitempty"`
	// Reason is why; a resume needs one. Retry as in [resource.Request].
	Reason string `json:"reason,omitempty"`
	Retry  bool   `json:"retry,omitempty"`
	// NotAfter is when the request is void if it was not begun; default in 10
	// minutes, at most in 24 hours.
	NotAfter *time.Time `json:"notAfter,omitempty"`
}

// RequestStatus is a one-shot request and what became of it.
type RequestStatus struct {
	resource.Request
	Rack      string                 `json:"rack"`
	Report    resource.RequestReport `json:"report"`
	CreatedAt time.Time              `json:"createdAt"`
}

// EventRecord is an event of an agent as the hub has it. Index grows over all
// agents.
type EventRecord struct {
	resource.Event
	// Target is what an event of the hub's own is about; nil where that is its server alone.
	Target *resource.Target `json:"target,omitempty"`
	Agent  string           `json:"agent"`
	Index  uint64           `json:"index"`
}

// EventList is a run of events. Next is the after of the request that goes on.
type EventList struct {
	Items []EventRecord `json:"items"`
	Next  uint64        `json:"next"`
}
