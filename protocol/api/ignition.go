package api

import (
	"context"
	"net/http"

	"rackboot/protocol"
)

// IgnitionRequest is an agent's wish for sealed user data that a document names. The
// agent is who its certificate says.
type IgnitionRequest struct {
	Sealed string `json:"sealed"` // sha256:<hex>
}

// Validate says what is wrong with the form. The code is invalid.
func (r IgnitionRequest) Validate() error {
	if len(r.Sealed) != len("sha256:")+64 {
		return protocol.Errorf(protocol.CodeInvalid, "fetch user data", "sealed is not sha256: and 64 hex digits")
	}
	return nil
}

// IgnitionAnswer is user data as it was sealed. Its digest is the one that was asked for,
// which whoever asked checks.
type IgnitionAnswer struct {
	Body []byte `json:"body"`
}

// Ignition fetches sealed user data, with the certificate of the client. The code of
// what is not for the agent is denied.
func (e Environments) Ignition(ctx context.Context, r IgnitionRequest) (out IgnitionAnswer, err error) {
	return out, e.hub.call(ctx, http.MethodPost, PathIgnition, r, &out)
}
