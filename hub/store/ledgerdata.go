package store

import (
	"slices"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Ledger is what the hub sent to one agent and what the agent acknowledged, by
// document ("hold", "rack/0").
type Ledger struct {
	Agent string                   `json:"agent"`
	Sent  map[string]SentDoc       `json:"sent"`
	Acked map[string]protocol.Head `json:"acked"`
	// Version is the highest that any document was given. It never falls, so that a
	// document that went and comes back is newer than what the agent has of it.
	Version uint64 `json:"version,omitempty"`
	// Owner is the start of a hub that wrote the ledger last. All that goes to the agent
	// passes through here, so that a hub which finds a newer one sends nothing more.
	Owner message.Fence `json:"owner,omitzero"`
	// Peer is what the agent proved to be when it was last greeted.
	Peer     Peer   `json:"peer,omitzero"`
	Revision uint64 `json:"-"` // for compare-and-set; 0 creates
}

// SentDoc is one document as it was sent.
type SentDoc struct {
	Head   protocol.Head `json:"head"`
	Body   []byte        `json:"body"`   // signed, as it goes out
	Digest string        `json:"digest"` // of the content, without head, time and fence
	Fence  uint64        `json:"fence"`  // number of the hub that sealed it
	Sealed string        `json:"sealed"` // digest of Body
}

// Peer is one database of an agent, and what the agent can do.
type Peer struct {
	Incarnation  string               `json:"incarnation,omitempty"` // empty is not known
	Protocol     int                  `json:"protocol,omitempty"`
	Version      string               `json:"version,omitempty"` // of the agent's binary
	Capabilities []message.Capability `json:"capabilities,omitempty"`
	// Head is how far the database had come when the hub last wrote the ledger because of something
	// that the agent said. It is not written for its own sake.
	Head message.StoreHead `json:"head,omitzero"`
	// Approvals is what the agent wants approvals for; nil from agents that take none.
	Approvals *resource.ApprovalStance `json:"approvals,omitempty"`
}

// Can reports whether the agent can do something. One that was never greeted can nothing.
func (p Peer) Can(c message.Capability) bool { return slices.Contains(p.Capabilities, c) }
