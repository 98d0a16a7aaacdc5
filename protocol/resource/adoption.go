package resource

import (
	"strings"
	"time"

	"rackboot/protocol"
)

// Adopted is somebody's word that what is installed on a server is what its owner wants:
// the server is booted from its disk and never from the network. No agent has seen the
// installation; it is kept apart from a [Provisioned] record and never becomes one. It
// travels inside the hub's signed document, and counts for the claim UID and generation
// of the boot that it is in.
type Adopted struct {
	ImageDigest string    `json:"imageDigest"`
	By          string    `json:"by"`
	Reason      string    `json:"reason"`
	At          time.Time `json:"at"`
	// Key is the id of the agent key that signed the record which the word leans on,
	// where that record was imported; empty where somebody says it without one.
	Key string `json:"key,omitempty"`
}

// Decision is what a claim waits for before its server may be network-booted: somebody
// has to say whether the system on its disk is kept.
type Decision struct {
	Since time.Time   `json:"since"`
	Why   DecisionWhy `json:"why"`
	// Message is why no record counts, where there was one.
	Message string `json:"message,omitempty"`
	// Install is somebody's word that the server may be installed over what it has.
	Install *Confirmation `json:"install,omitempty"`
}

// Open says whether it is still waited for. A nil one is not.
func (d *Decision) Open() bool { return d != nil && d.Install == nil }

// DecisionWhy is why somebody has to decide.
type DecisionWhy string

// The reasons.
const (
	DecisionImported DecisionWhy = "imported" // the claim came from another hub without a record that counts
	// DecisionOrphaned is that the agent has records of an owner that did not let the server go.
	DecisionOrphaned DecisionWhy = "orphaned"
	DecisionFoundOn  DecisionWhy = "found-on" // the server ran when it was bound, and nobody had booted it for the claim
)

// SplitImage takes IMAGE@DIGEST apart. Digest is empty if it is none of sha256.
func SplitImage(s string) (reference, digest string) {
	at := strings.LastIndexByte(s, '@')
	if at < 1 || !protocol.ValidDigest(s[at+1:]) {
		return s, ""
	}
	return s[:at], s[at+1:]
}
