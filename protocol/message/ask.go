package message

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
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
	// AskMirror asks what the agent has of package repositories; the answer's body is a
	// MirrorStatus. No repository is asked.
	AskMirror AskKind = "mirror"
	// AskFlush has the agent forget what it has cached of package repositories; the answer's
	// body is a MirrorFlushed. It is the one that changes something: what is fetched again.
	AskFlush AskKind = "flush"
	// AskFirmware reads how the firmware of the systems of a BMC is set; the answer's body is a
	// list of Firmware.
	AskFirmware AskKind = "firmware"
)

// AskKinds lists all kinds.
func AskKinds() []AskKind {
	return []AskKind{AskInventory, AskProbe, AskTrace, AskRead, AskMirror, AskFlush, AskFirmware}
}

// Ask is a question of the hub. It changes nothing at the rack but what an agent can have again
// by itself (AskFlush), is not kept by anybody, and may be lost: whoever asks, asks again.
type Ask struct {
	ID   string  `json:"id"`
	Kind AskKind `json:"kind"`
	// BMC says how to reach it; it need not be in a document yet. Of a question about no BMC it
	// is empty.
	BMC BMCIntent `json:"bmc"`
	// SystemURI asks about one system; empty about every host behind the BMC.
	SystemURI string `json:"systemURI,omitempty"`
	// Server is of a trace or read, Serial of a trace; 0 is the newest.
	Server string `json:"server,omitempty"`
	Serial int    `json:"serial,omitempty"`
	// What is of a flush: the URL or path at which and below which all is meant; empty for all.
	// Force drops it also while its repository does not answer.
	What  string `json:"what,omitempty"`
	Force bool   `json:"force,omitempty"`
	// Firmware is of an inventory: it is to have how the firmware is set. An agent that does not know
	// this leaves it out.
	Firmware bool `json:"firmware,omitempty"`
	// Attributes are the BIOS attributes of which a question about firmware wants the values, by name.
	Attributes []string `json:"attributes,omitempty"`
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
	// Condition is what the failure is, where it is one of the BMC's account.
	Condition resource.ConditionCode `json:"condition,omitempty"`
}
