package files

import (
	"context"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// image makes the artefacts of an image of the hub's catalogue local, one after the other,
// in the way of uploaded files. It waits its turn once.
func (p *uploads) image(ctx context.Context, image resource.Image) error {
	waited := false
	turn := func(ctx context.Context) error {
		if waited {
			return nil
		}
		waited = true
		return p.waitTurn(ctx)
	}
	for _, a := range image.Artefacts {
		err := p.fetch(ctx, resource.EnvISO{File: string(a.Kind) + " of " + image.Reference, Digest: a.Digest, Size: a.Size}, turn)
		if err != nil {
			p.metrics.pulls.WithLabelValues(string(protocol.CodeOf(err))).Inc()
			return err
		}
		p.metrics.pulls.WithLabelValues(isoDone).Inc()
	}
	return nil
}
