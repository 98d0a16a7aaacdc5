package api

import (
	"context"
	"log/slog"
	"net/http"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Vault is what the API asks of whatever encrypts Secrets.
type Vault interface {
	// Rekey reads the key-encryption keys again and puts every Secret under the current.
	Rekey(ctx context.Context) (protoapi.Rekeyed, error)
}

// secrets has the Secrets and the rotation of their key.
type secrets struct {
	kind   resources
	vault  Vault // nil if this hub has none
	logger *slog.Logger
}

func (s secrets) routes(t *route.Table) {
	registerKind[*resource.Secret](t, s.kind)
	route.Register(t, t.Operation(http.MethodPost, protoapi.PathRekey, "rekeySecrets",
		"Read the key-encryption keys again and put every secret under the current one; idempotent", nil,
		route.Rule{Right: access.Secret, Target: route.TargetWhole}),
		func(ctx context.Context, _ *noInput) (*answer[protoapi.Rekeyed], error) {
			if s.vault == nil {
				return nil, route.Problem(protocol.Errorf(protocol.CodeUnavailable, "rotate the key of secrets", "this hub has no vault"))
			}
			done, err := s.vault.Rekey(ctx)
			if err != nil {
				return nil, route.Problem(err)
			}
			s.logger.Info("key of secrets rotated", "key", done.Key, "secrets", done.Secrets, "rewrapped", done.Rewrapped, "unreadable", done.Unreadable, "by", route.Caller(ctx).Name)
			return &answer[protoapi.Rekeyed]{done}, nil
		})
}
