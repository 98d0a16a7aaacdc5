package api

import (
	"context"
	"net/http"

	"rackboot/protocol"
)

// EnvBundleRequest is an agent's wish for the sealed bundle of a boot environment that a
// document names. The agent is who its certificate says.
type EnvBundleRequest struct {
	Sealed string `json:"sealed"` // sha256:<hex>
}

// Validate says what is wrong with the form. The code is invalid.
func (r EnvBundleRequest) Validate() error {
	if len(r.Sealed) != len("sha256:")+64 {
		return protocol.Errorf(protocol.CodeInvalid, "fetch boot environment", "sealed is not sha256: and 64 hex digits")
	}
	return nil
}

// EnvBundleAnswer is a bundle as it was sealed, at most [resource.MaxSealedEnv] bytes. Its
// digest is the one that was asked for, which whoever asked checks.
type EnvBundleAnswer struct {
	Body []byte `json:"body"`
}

// Environments are boot environments as they are compiled and rendered.
type Environments struct{ hub *hub }

// Bundle fetches a sealed bundle, with the certificate of the client. The code of what
// is not for the agent is denied.
func (e Environments) Bundle(ctx context.Context, r EnvBundleRequest) (out EnvBundleAnswer, err error) {
	return out, e.hub.call(ctx, http.MethodPost, PathEnvBundle, r, &out)
}
