package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// AdoptRequest says what becomes of a claimed server that may have an installed system.
// One of Provisioned and Reprovision is given, and the reason.
type AdoptRequest struct {
	// Provisioned is IMAGE@DIGEST: that image is installed, and is kept.
	Provisioned string `json:"provisioned,omitempty"`
	// Reprovision lets the server be installed over what it has.
	Reprovision bool   `json:"reprovision,omitempty"`
	Reason      string `json:"reason"`
}

// Validate says what is wrong; the code is invalid.
func (r AdoptRequest) Validate() error {
	const op = "adopt server"
	switch n := len(strings.TrimSpace(r.Reason)); {
	case n == 0 || len(r.Reason) > MaxReason:
		return protocol.Errorf(protocol.CodeInvalid, op, "say in 1 to %d bytes why", MaxReason).WithHint("add --reason")
	case (r.Provisioned != "") == r.Reprovision:
		return protocol.Errorf(protocol.CodeInvalid, op, "give either the image that is installed, or that the server is installed anew").
			WithHint("--provisioned IMAGE@DIGEST keeps what is on the disk; --reprovision overwrites it")
	case r.Reprovision:
		return nil
	}
	if _, digest := resource.SplitImage(r.Provisioned); digest == "" || strings.ContainsAny(r.Provisioned, " \t\n") {
		return protocol.Errorf(protocol.CodeInvalid, op, "%q is not IMAGE@sha256:<64 hex digits>", r.Provisioned).
			WithHint("write the image as the claim does, with the digest that is installed: registry.example/os:1@sha256:…")
	}
	return nil
}

// pathAdopt is the route that takes a server over.
func pathAdopt(server string) string { return PathObject(resource.KindServer, server) + "/adopt" }

// Adopt says what becomes of a claimed server's system. The same again changes
// nothing. The codes are invalid, not_found, conflict and denied.
func (s Servers) Adopt(ctx context.Context, server string, r AdoptRequest) (*resource.Claim, error) {
	var cl resource.Claim
	return &cl, s.hub.call(ctx, http.MethodPost, pathAdopt(server), r, &cl)
}

// PathImport is the route that takes what another hub exported.
const PathImport = "/v1/import"

const (
	// MaxImport bounds an export file and an import in bytes: some thousands of servers
	// with claims. A larger fleet moves rack by rack.
	MaxImport = 16 << 20
	// MaxImportObjects bounds their number.
	MaxImportObjects = 20000
	// ImportWait is how long an import may take.
	ImportWait = 5 * time.Minute
	// KindExport is the kind of an export file. It is no resource.
	KindExport = "Export"
	// AcceptAllKeys accepts every agent key that the export carries.
	AcceptAllKeys = "all"
)

// Export is what people own at a hub and the facts that must survive, as a file. It has
// no secrets, and proves nothing by itself: what it says was signed by agents whose keys
// are in it too.
type Export struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	At         time.Time         `json:"at"`
	Hub        string            `json:"hub,omitempty"`
	Keys       []ExportKey       `json:"keys,omitempty"`
	Objects    []json.RawMessage `json:"objects"`
	// LeftOut is what was not exported, and what to do about it.
	LeftOut []LeftOut `json:"leftOut,omitempty"`
}

// ExportKey is the key of an agent that served a rack.
type ExportKey struct {
	Rack string `json:"rack"`
	Key  []byte `json:"key"` // Ed25519
}

// LeftOut names what was not exported.
type LeftOut struct {
	Kind   resource.Kind `json:"kind"`
	Name   string        `json:"name"`
	Reason string        `json:"reason"`
}

// ImportRequest takes an export.
type ImportRequest struct {
	DryRun bool `json:"dryRun,omitempty"`
	// AcceptKeys are ids of agent keys (hex, see wire.KeyID) whose records count, or
	// [AcceptAllKeys]. Whoever imports answers for them.
	AcceptKeys []string `json:"acceptKeys,omitempty"`
	// AcceptWords lets count what somebody adopted at the other hub.
	AcceptWords bool              `json:"acceptWords,omitempty"`
	Reason      string            `json:"reason"`
	Keys        []ExportKey       `json:"keys,omitempty"`
	Objects     []json.RawMessage `json:"objects"`
}

// ImportOutcome is what became of an object.
type ImportOutcome string

// The outcomes.
const (
	ImportCreated   ImportOutcome = "created"
	ImportUnchanged ImportOutcome = "unchanged" // it is there already
	ImportConflict  ImportOutcome = "conflict"  // something else is there
	ImportRefused   ImportOutcome = "refused"   // it cannot be taken
	ImportDecision  ImportOutcome = "needs a decision"
)

// ImportResult says what became of one object.
type ImportResult struct {
	Kind    resource.Kind `json:"kind"`
	Name    string        `json:"name"`
	Outcome ImportOutcome `json:"outcome" doc:"created, unchanged, conflict, refused or needs a decision"`
	Message string        `json:"message,omitempty"`
}

// ImportAnswer says what became of each object, in the order of the request.
type ImportAnswer struct {
	Results []ImportResult `json:"results"`
	// Keys are the ids of the agent keys that signed records, and how many each.
	Keys []ImportKey `json:"keys,omitempty"`
}

// ImportKey is a key by which records in an export were signed.
type ImportKey struct {
	ID       string `json:"id"`
	Rack     string `json:"rack"`
	Records  int    `json:"records"`
	Accepted bool   `json:"accepted"`
}

// Import takes an export: each object whole or not at all. The same again changes
// nothing. The codes are invalid, denied, unavailable and timeout; after the last two,
// repeat it.
func (c *Client) Import(ctx context.Context, r ImportRequest) (out ImportAnswer, err error) {
	ctx, cancel := context.WithTimeout(ctx, ImportWait+callTimeout)
	defer cancel()
	return out, c.hub.call(ctx, http.MethodPost, PathImport, r, &out)
}
