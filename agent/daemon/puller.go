package daemon

import (
	"context"
	"os"

	"rackboot/netboot/image"
	"rackboot/protocol"
	"rackboot/state/blob"
)

// puller brings images from registries into the blob store.
type puller struct {
	blobs   *blob.Store
	options image.Options
}

// Pull implements agent.Puller.
func (p puller) Pull(ctx context.Context, img protocol.Image) error {
	ref, err := image.Pin(img)
	if err != nil {
		return err
	}
	return image.Pull(ctx, ref, img.Artefacts, p.blobs, p.options)
}

func imageOptions(c Images) (image.Options, error) {
	o := image.Options{Mirrors: c.Mirrors, PlainHTTP: c.PlainHTTP}
	if c.CAFile == "" {
		return o, nil
	}
	ca, err := os.ReadFile(c.CAFile)
	if err != nil {
		return o, protocol.Errorf(protocol.CodeInvalid, "read images.caFile", "%w", err)
	}
	o.CA = ca
	return o, nil
}
