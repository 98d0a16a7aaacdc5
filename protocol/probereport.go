package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of a report. What a booted image sends is read from a token's holder,
// which is whatever the image runs.
const (
	MaxProbeReport  = 256 << 10 // bytes of JSON
	MaxProbeMessage = 1 << 10   // bytes
	// MaxReportedInventory bounds the inventory of one server in an agent's Report, in
	// bytes of JSON. A larger one stays at the agent.
	MaxReportedInventory = 8 << 10
)

// ProbeState is what a booted image says of itself.
type ProbeState string

// The states.
const (
	ProbeInstalled  ProbeState = "installed"  // the installation has ended; a first boot's evidence
	ProbeBooted     ProbeState = "booted"     // the installed system runs; a hint
	ProbeDiscovered ProbeState = "discovered" // the inventory is complete, and the server is about to go off
	ProbeFailed     ProbeState = "failed"     // it could not do what it was booted for
)

// probeStates lists the states.
var probeStates = []ProbeState{ProbeInstalled, ProbeBooted, ProbeDiscovered, ProbeFailed}

// ParseProbeState is the state that a text names.
func ParseProbeState(s string) (ProbeState, bool) {
	for _, known := range probeStates {
		if string(known) == s {
			return known, true
		}
	}
	return "", false
}

// ProbeReport is what a booted image posts, as JSON, to its report URL. Without
// a body the path alone says the state.
type ProbeReport struct {
	State   ProbeState `json:"state"`
	Message string     `json:"message,omitempty"` // for people; why it failed
	// Inventory is what the image found in the server.
	Inventory *HostInventory `json:"inventory,omitempty"`
}

// ImageReport is the last report of a server's image, as its agent keeps it.
type ImageReport struct {
	// State is empty where only the inventory is shown: its owner has let the server go.
	State   ProbeState `json:"state"`
	Message string     `json:"message,omitempty"`
	At      time.Time  `json:"at"` // agent clock
	// OwnerUID is whose boot the image reported of; the inventory is of the server, whoever has it.
	OwnerUID string `json:"ownerUID,omitempty"`
	// InventoryAt is when the inventory last changed; reports without one keep it.
	InventoryAt *time.Time `json:"inventoryAt,omitempty"`
	// Digest is of the inventory's JSON, Bytes its length.
	Digest string `json:"digest,omitempty"`
	Bytes  int    `json:"bytes,omitempty"`
	// Inventory is not in each report of an agent: what has Digest is still so. One of
	// more than MaxReportedInventory never is.
	Inventory *HostInventory `json:"inventory,omitempty"`
}

// Follow is the report after r at a time, of an owner's boot: r's inventory is kept if next has none.
func (r ImageReport) Follow(next ProbeReport, owner string, at time.Time) (ImageReport, error) {
	out := ImageReport{
		State: next.State, Message: next.Message, At: at, OwnerUID: owner,
		InventoryAt: r.InventoryAt, Digest: r.Digest, Bytes: r.Bytes, Inventory: r.Inventory,
	}
	if next.Inventory == nil {
		return out, nil
	}
	raw, err := json.Marshal(next.Inventory)
	if err != nil {
		return r, Errorf(CodeInternal, "keep report", "inventory: %w", err)
	}
	sum := sha256.Sum256(raw)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	if digest == r.Digest {
		return out, nil
	}
	out.Digest, out.Bytes, out.Inventory, out.InventoryAt = digest, len(raw), next.Inventory, &at
	return out, nil
}

// Says reports whether two reports say the same at different times.
func (r ImageReport) Says(o ImageReport) bool {
	return r.State == o.State && r.Message == o.Message && r.Digest == o.Digest && r.OwnerUID == o.OwnerUID
}

// DecodeProbeReport reads the JSON of a report and judges it. Fields that are not
// known are passed over: an image may be newer than the agent. state is what the
// path says; empty leaves it to the body. All errors are invalid.
func DecodeProbeReport(raw []byte, state ProbeState) (ProbeReport, error) {
	const op = "read report"
	var r ProbeReport
	bad := func(err error) (ProbeReport, error) {
		return ProbeReport{}, Errorf(CodeInvalid, op, "%w", err).WithHint("see docs/guide/reports.md")
	}
	switch {
	case len(raw) > MaxProbeReport:
		return bad(fmt.Errorf("%d bytes, at most %d", len(raw), MaxProbeReport))
	case !utf8.Valid(raw): // encoding/json would replace what is wrong
		return bad(fmt.Errorf("not UTF-8"))
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return bad(err)
	}
	if r.State == "" {
		r.State = state
	}
	if state != "" && r.State != state {
		return bad(fmt.Errorf("the body says %q and the path %q", r.State, state))
	}
	if wrong := r.Validate(); len(wrong) > 0 {
		return bad(wrong)
	}
	return r, nil
}

// FailureReport reads the body of a report that something failed, whatever it is: JSON that
// [DecodeProbeReport] takes, else a text, of which the beginning is the message. What cannot
// go on has no time to be told what is wrong with its words.
func FailureReport(body []byte) ProbeReport {
	if r, err := DecodeProbeReport(body, ProbeFailed); err == nil {
		return r
	}
	text := strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(string(body[:min(len(body), MaxProbeMessage)]), "?"))
	for len(text) > MaxProbeMessage { // one byte may have become one that is longer
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	return ProbeReport{State: ProbeFailed, Message: strings.TrimSpace(text)}
}

// Validate reports wrong fields.
func (r *ProbeReport) Validate() FieldErrors {
	var f FieldErrors
	if _, ok := ParseProbeState(string(r.State)); !ok {
		f.Add("state", "%q is none of %v", r.State, slices.Clone(probeStates))
	}
	if len(r.Message) > MaxProbeMessage {
		f.Add("message", "%d bytes, at most %d", len(r.Message), MaxProbeMessage)
	}
	if !utf8.ValidString(r.Message) || strings.ContainsFunc(r.Message, func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }) {
		f.Add("message", "control characters other than line feed and tab, or not UTF-8")
	}
	if r.Inventory != nil {
		r.Inventory.validate(&f)
	}
	return f
}
