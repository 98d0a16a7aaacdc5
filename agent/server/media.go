package server

import (
	"context"
	"errors"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/decide"
)

const (
	// insertTimeout bounds inserting, for which BMCs read from the agent and are slow. The
	// server is Off meanwhile.
	insertTimeout = time.Minute
)

// media inserts or ejects the images of the server's medium, as it is on disk.
func (h *hand) media(ctx context.Context, a decide.Action, r *decide.Result) error {
	const op = "virtual media"
	d, ok := h.bmc.driver.(bmc.MediaDriver)
	if !ok {
		return protocol.Errorf(protocol.CodeUnsupported, op, "the driver of this BMC has no virtual media")
	}
	v, err := h.cfg.Store.Servers.View(h.server)
	if err != nil {
		return err
	}
	m := v.Record.Residue.Medium()
	if m == nil || m.Attempt != a.Attempt || v.Intent == nil {
		return protocol.Errorf(protocol.CodeConflict, op, "the medium is another one by now")
	}
	way, err := h.cfg.Boot.MediaWay(v.Intent.ServerIntent)
	if err != nil {
		return err
	}
	if a.Kind == decide.ActEject {
		return veiled(op, d.EjectMedia(ctx, way.Own()), m.Token)
	}
	config := way.URL(m.Token, protocol.FileConfigISO)
	images := bmc.Media{Boot: way.URL(m.Token, protocol.FileISO), Own: way.Own()}
	_, based := h.cfg.Boot.HostBase(v.Intent.Segment)
	switch {
	case !m.Boots():
		images.Boot = config // the only one, in the drive that any BMC has
	case based:
		images.Config = config
	}
	in, err := d.InsertMedia(ctx, images)
	_, r.Occupied = errors.AsType[*bmc.Occupied](err)
	r.Config = in.Config != "" || !m.Boots() && in.Boot != ""
	return veiled(op, err, m.Token)
}
