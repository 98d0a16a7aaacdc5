package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Vault is what the API asks of whatever encrypts Secrets.
type Vault interface {
	// Rekey reads the key-encryption keys again and puts every Secret under the current.
	Rekey(ctx context.Context) (protoapi.Rekeyed, error)
}

func (a *API) registerSecrets() {
	registerKind[*resource.Secret](a)
	huma.Register(a.huma, a.operation(http.MethodPost, protoapi.PathRekey, "rekeySecrets",
		"Read the key-encryption keys again and put every secret under the current one; idempotent", nil),
		func(ctx context.Context, _ *noInput) (*answer[protoapi.Rekeyed], error) {
			if a.vault == nil {
				return nil, problem(protocol.Errorf(protocol.CodeUnavailable, "rotate the key of secrets", "this hub has no vault"))
			}
			done, err := a.vault.Rekey(ctx)
			if err != nil {
				return nil, problem(err)
			}
			a.logger.Info("key of secrets rotated", "key", done.Key, "secrets", done.Secrets, "rewrapped", done.Rewrapped, "unreadable", done.Unreadable, "by", caller(ctx).Name)
			return &answer[protoapi.Rekeyed]{done}, nil
		})
}
