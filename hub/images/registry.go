package images

import (
	"context"

	"rackboot/protocol"
)

// Registry resolves a reference to digests and checks that a boot method can use
// it.
type Registry interface {
	Resolve(ctx context.Context, ref, architecture string) (protocol.Image, error)
	Require(img protocol.Image, method protocol.BootTarget) error
}
