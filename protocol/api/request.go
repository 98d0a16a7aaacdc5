package api

import (
	"time"

	"rackboot/protocol"
)

// HoldRequest asks for a hold. The same request again, by the same caller with
// the same key, returns the hold that it made the first time.
type HoldRequest struct {
	Key         string            `json:"key"`
	Mode        protocol.StopMode `json:"mode,omitempty"` // default soft
	SoftTimeout protocol.Duration `json:"softTimeout,omitempty"`
	Reason      string            `json:"reason,omitempty"`
	Ref         string            `json:"ref,omitempty"`
}

// RebootRequest asks for one reboot of a server that has a claim, or for one
// power-off of a server that no claim wants On.
type RebootRequest struct {
	Action protocol.RequestAction `json:"action,omitempty"` // default reboot
	Mode   protocol.StopMode      `json:"mode,omitempty"`   // default soft
	// NotAfter is when the request is void if it was not begun; default in 10
	// minutes, at most in 24 hours.
	NotAfter *time.Time `json:"notAfter,omitempty"`
}

// RequestStatus is a one-shot request and what became of it.
type RequestStatus struct {
	protocol.Request
	Rack      string                 `json:"rack"`
	Report    protocol.RequestReport `json:"report"`
	CreatedAt time.Time              `json:"createdAt"`
}

// EventRecord is an event of an agent as the hub has it. Index grows over all
// agents.
type EventRecord struct {
	protocol.Event
	Agent string `json:"agent"`
	Index uint64 `json:"index"`
}

// EventList is a run of events. Next is the after of the request that goes on.
type EventList struct {
	Items []EventRecord `json:"items"`
	Next  uint64        `json:"next"`
}
