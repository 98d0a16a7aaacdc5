package daemon

import (
	"context"
	"os"

	"rackboot/netboot/image"
	"rackboot/protocol"
)

// images asks registries for the control.
type images struct{ options image.Options }

func newImages(c Images) (images, error) {
	o := image.Options{Mirrors: c.Mirrors, PlainHTTP: c.PlainHTTP}
	if c.CAFile == "" {
		return images{o}, nil
	}
	ca, err := os.ReadFile(c.CAFile)
	if err != nil {
		return images{}, protocol.Errorf(protocol.CodeInvalid, "read images.caFile", "%w", err)
	}
	o.CA = ca
	return images{o}, nil
}

// Resolve implements control.Images.
func (i images) Resolve(ctx context.Context, ref, architecture string) (protocol.Image, error) {
	return image.Resolve(ctx, ref, architecture, i.options)
}

// Require implements control.Images.
func (i images) Require(img protocol.Image, method protocol.BootTarget) error {
	return image.Require(img, method)
}
