package protocol

import (
	"strings"
	"time"
	"unicode/utf8"
)

// AuditOutcome is how far the thing got that an audit entry is about.
type AuditOutcome string

// The outcomes.
const (
	AuditAsked    AuditOutcome = "asked"    // it is about to be done
	AuditAccepted AuditOutcome = "accepted" // it was done, or will be
	AuditRefused  AuditOutcome = "refused"  // it was not allowed or not possible
	AuditFailed   AuditOutcome = "failed"   // it broke, or its outcome is unknown
)

// AuditOutcomes lists all outcomes.
func AuditOutcomes() []AuditOutcome {
	return []AuditOutcome{AuditAsked, AuditAccepted, AuditRefused, AuditFailed}
}

// The operations of the log's own entries. All others are verbs of who calls.
const (
	// AuditOpSegment begins a segment file in the ordinary way.
	AuditOpSegment = "audit-segment"
	// AuditOpTorn begins a segment because the one before ends in an incomplete line.
	AuditOpTorn = "audit-torn"
	// AuditOpBreak begins a segment because one before, Target, does not fit together.
	AuditOpBreak = "audit-break"
	// AuditOpCheckpoint is signed so that what stands before it is.
	AuditOpCheckpoint = "audit-checkpoint"
)

// The bounds of an audit entry, in bytes. What is longer is cut.
const (
	MaxAuditDetail = 1 << 10  // Detail and Reason
	MaxAuditName   = 256      // the other texts, and each role
	MaxAuditRoles  = 8        // roles
	MaxAuditLine   = 32 << 10 // a line of the log: all texts at their bounds, escaped
)

// AuditEntry is one line of the hub's audit log: who wanted what, from where, and what
// came of it. The log fills Seq, At, Prev, Hash and Signed. It never holds a secret.
type AuditEntry struct {
	Seq    uint64    `json:"seq"`              // 1, 2, 3…; less than 2^53
	At     time.Time `json:"at"`               // UTC, whole microseconds
	Caller string    `json:"caller,omitempty"` // "hub" for what it does by itself
	Roles  []string  `json:"roles,omitempty"`
	// Issuer and Subject are who said that the caller is a person that logged in with an OpenID provider, and as
	// whom it knows that person (claims iss and sub); empty for all others.
	Issuer  string       `json:"issuer,omitempty"`
	Subject string       `json:"subject,omitempty"`
	From    string       `json:"from,omitempty"` // address of the caller, or "hub"
	Op      string       `json:"op"`
	Target  string       `json:"target,omitempty"` // Kind/name
	Reason  string       `json:"reason,omitempty"` // as the caller gave it
	Outcome AuditOutcome `json:"outcome"`
	Code    Code         `json:"code,omitempty"` // why it was refused or failed
	Detail  string       `json:"detail,omitempty"`
	// Prev is Hash of the entry before; empty only for the first of all.
	Prev string `json:"prev,omitempty"`
	// Hash is sha256: and the hexadecimal SHA-256 of Canonical.
	Hash string `json:"hash"`
	// Hub is whose log it is, in a list of the logs of several hubs. It is in no line.
	Hub string `json:"hub,omitempty"`
	// Signed is a checkpoint sealed by the hub that names Seq and Hash; see package
	// auditlog. Exactly the entries with an operation of the log's own have it.
	Signed []byte `json:"signed,omitempty"`
}

// AuditOwn says whether an operation is one of the log's own.
func AuditOwn(op string) bool { return AuditBegins(op) || op == AuditOpCheckpoint }

// AuditBegins says whether an operation is one with which a segment begins.
func AuditBegins(op string) bool {
	return op == AuditOpSegment || op == AuditOpTorn || op == AuditOpBreak
}

// Bounded is the entry with valid UTF-8 in all of its texts, each within its bound, and
// with At as it is kept. Three dots end a text that was cut.
func (e AuditEntry) Bounded() AuditEntry {
	e.At = e.At.UTC().Truncate(time.Microsecond)
	for _, s := range []*string{&e.Caller, &e.Issuer, &e.Subject, &e.From, &e.Op, &e.Target, (*string)(&e.Outcome), (*string)(&e.Code)} {
		*s = cut(*s, MaxAuditName)
	}
	e.Reason, e.Detail = cut(e.Reason, MaxAuditDetail), cut(e.Detail, MaxAuditDetail)
	given := e.Roles[:min(len(e.Roles), MaxAuditRoles)]
	e.Roles = nil
	for _, r := range given {
		e.Roles = append(e.Roles, cut(r, MaxAuditName))
	}
	return e
}

func cut(s string, limit int) string {
	const dots = "..."
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit {
		return s
	}
	end := limit - len(dots)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + dots
}
