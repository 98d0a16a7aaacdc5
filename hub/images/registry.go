package images

import (
	"context"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Registry resolves a reference to digests and checks that a boot method can use
// it.
type Registry interface {
	Resolve(ctx context.Context, ref, architecture string) (resource.Image, error)
	Require(img resource.Image, method protocol.BootTarget) error
}
