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

type stillKey struct{}

// WithStill returns a context of a request that takes long. still reports whether its caller may send it still.
func WithStill(ctx context.Context, still func() bool) context.Context {
	return context.WithValue(ctx, stillKey{}, still)
}

// Still asks anew whether the caller of a request may send it still.
func Still(ctx context.Context) bool {
	still, ok := ctx.Value(stillKey{}).(func() bool)
	return !ok || still()
}
