package route

import (
	"context"

	"rackboot/hub/access"
)

type callerKey struct{}

// WithCaller returns a context that carries the caller of a request.
func WithCaller(ctx context.Context, who access.Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, who)
}

// Caller returns the caller of a request. It returns the zero Caller on open routes when nobody
// is known to have sent the request.
func Caller(ctx context.Context) access.Caller {
	who, _ := ctx.Value(callerKey{}).(access.Caller)
	return who
}
