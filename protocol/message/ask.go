package message

import (
	"time"

	"rackboot/protocol"
)

// AskKind is what a question asks for.
type AskKind string

// The kinds.
const (
	// AskInventory reads what the systems of a BMC consist of; the answer's body is
	// a list of Inventory.
	AskInventory AskKind = "inventory"
	// AskProbe finds out what a BMC can do, by reads alone; the answer's body is a
	// list of Probe.
	AskProbe AskKind = "probe"
	// AskTrace asks for what was seen of a power-on of a server; the answer's body is a
	// Trace. No BMC is asked.
	AskTrace AskKind = "trace"
	// AskRead has the loop of a server read its BMC, by a read that begins after the question
	// came; the answer's body is a ServerRead.
	AskRead AskKind = "read"
)

// AskKinds lists all kinds.
func AskKinds() []AskKind { return []AskKind{AskInventory, AskProbe, AskTrace, AskRead} }

// Ask is a question of the hub. It changes nothing at the rack, is not kept by
// anybody, and may be lost: whoever asks, asks again.
type Ask struct {
	ID   string  `json:"id"`
	Kind AskKind `json:"kind"`
	// BMC says how to reach it; it need not be in a document yet. Of a trace or read it is empty.
	BMC BMCIntent `json:"bmc"`
	// SystemURI asks about one system; empty about every host behind the BMC.
	SystemURI string `json:"systemURI,omitempty"`
	// Server is of a trace or read, Serial of a trace; 0 is the newest.
	Server string `json:"server,omitempty"`
	Serial int    `json:"serial,omitempty"`
	// NotAfter is when nobody waits for the answer any more, by the hub's clock.
	NotAfter time.Time `json:"notAfter"`
}

// Answer is the agent's answer to an Ask. One that cannot be given says why.
type Answer struct {
	ID    string `json:"id"`
	Nonce string `json:"nonce,omitempty"` // of the session's Sync
	// Body is JSON; see AskKind. It is empty where Code is set.
	Body    []byte        `json:"body,omitempty"`
	Code    protocol.Code `json:"code,omitempty"`
	Message string        `json:"message,omitempty"`
	Hint    string        `json:"hint,omitempty"`
}
