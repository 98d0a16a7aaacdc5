package protocol

import (
	"cmp"
	"strconv"
	"strings"
)

// FaultKind says how an exchange with a BMC went wrong. Decisions are made on it; the words
// beside it are for people.
type FaultKind string

// The kinds.
const (
	// FaultRefused: a status of 4xx or 5xx that no other kind names.
	FaultRefused FaultKind = "Refused"
	// FaultPrecondition: 412 or 428 to every form of If-Match, and to none.
	FaultPrecondition FaultKind = "Precondition"
	// FaultTask: taken with 202, and its Task ended badly.
	FaultTask FaultKind = "Task"
	// FaultSessions: no session is left at the BMC.
	FaultSessions FaultKind = "Sessions"
	// FaultSlow: an answer began and did not end in time.
	FaultSlow FaultKind = "Slow"
	// FaultCut: an answer ended before its length, or is not whole JSON.
	FaultCut FaultKind = "Cut"
	// FaultGone: 404 for the system itself.
	FaultGone FaultKind = "Gone"
	// FaultStranger: what is at the system's path is another machine.
	FaultStranger FaultKind = "Stranger"
	// FaultAmbiguous: several systems of the BMC fit the server.
	FaultAmbiguous FaultKind = "Ambiguous"
	// FaultPower: PowerState is absent, or no word of Redfish.
	FaultPower FaultKind = "PowerState"
)

// FaultKinds lists all kinds.
func FaultKinds() []FaultKind {
	return []FaultKind{
		FaultRefused, FaultPrecondition, FaultTask, FaultSessions, FaultSlow, FaultCut, FaultGone, FaultStranger, FaultAmbiguous, FaultPower,
	}
}

// BMCFault is what a BMC did wrong, with its own words. Its texts are one printable line
// each, without credentials, and of at most 300 characters.
type BMCFault struct {
	Kind      FaultKind `json:"kind,omitempty"`
	Status    int       `json:"status,omitempty"`    // of HTTP; 0 without one
	MessageID string    `json:"messageID,omitempty"` // of Redfish; empty without one
	Text      string    `json:"text,omitempty"`      // the Message, or a plain body
	// Reset is the ResetType of the Task; empty for other faults.
	Reset string `json:"reset,omitempty"`
}

// Words are the fault in one line, for people.
func (f BMCFault) Words() string {
	var parts []string
	if f.Reset != "" {
		parts = append(parts, f.Reset)
	}
	if f.Status != 0 {
		parts = append(parts, strconv.Itoa(f.Status))
	}
	if f.MessageID != "" {
		parts = append(parts, f.MessageID)
	}
	said := strings.Join(parts, " ")
	if f.Text == "" {
		return cmp.Or(said, "it gave no words")
	}
	if said == "" {
		return f.Text
	}
	return said + ": " + f.Text
}
