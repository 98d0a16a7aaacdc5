package object

import (
	"context"

	"rackboot/cmd/internal/manifest"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// fitter holds resources against the schemas of the hub, which may know other fields and words than this program.
// A hub without schemas only checks by itself.
type fitter struct {
	client  *api.Client
	schemas map[resource.Kind][]byte
	none    bool // the hub has no schemas
}

func (f *fitter) fit(ctx context.Context, set *manifest.Set) error {
	if f.schemas == nil {
		f.schemas = map[resource.Kind][]byte{}
	}
	for _, o := range set.Objects() {
		kind := o.Head().Kind
		if f.none || f.schemas[kind] != nil {
			continue
		}
		raw, err := f.client.Schema(ctx, kind)
		switch {
		case protocol.CodeOf(err) == protocol.CodeNotFound:
			f.none = true
		case err != nil:
			return err
		default:
			f.schemas[kind] = raw
		}
	}
	if f.none {
		return nil
	}
	return set.Fit(f.schemas)
}
