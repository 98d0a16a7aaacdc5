package filing

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// File keeps what an agent has signed of a server, append-only. One fact that
// cannot be kept does not stop the others; it comes again with the next report.
func (r *Room) File(ctx context.Context, a *resource.Agent, s resource.ServerReport) error {
	var errs []error
	for _, h := range s.Holds {
		errs = append(errs, r.receipt(ctx, a, s.Server, h))
	}
	if len(s.Provisioned) > 0 {
		errs = append(errs, r.provisioned(ctx, a, s))
	}
	return errors.Join(errs...)
}

func (r *Room) receipt(ctx context.Context, a *resource.Agent, server string, h resource.HoldReport) error {
	if len(h.Receipt) == 0 || r.cfg.Reports.Filed(wire.Digest(h.Receipt)) {
		return nil
	}
	var said resource.Receipt
	if err := r.cfg.Link.OpenOf(a, wire.FactReceipt, h.Receipt, &said); err != nil {
		return err
	}
	if said.HoldID != h.ID || said.Server != server {
		return protocol.Errorf(protocol.CodeDenied, "file a receipt", "agent %s sent the receipt of hold %s on %s for hold %s on %s",
			a.Metadata.Name, said.HoldID, said.Server, h.ID, server)
	}
	return r.once(ctx, "receipt."+said.HoldID, h.Receipt)
}

// provisioned keeps an agent's record for its configuration. It is never
// unset. What is kept already was verified then, and is looked for first: nearly every
// report of an installed server repeats it.
func (r *Room) provisioned(ctx context.Context, a *resource.Agent, s resource.ServerReport) error {
	server, signed := s.Server, s.Provisioned
	for _, b := range store.Find(r.cfg.Objects, store.ConfigsByOwner, s.OwnerUID) {
		if bytes.Equal(b.Status.SignedProvisioned, signed) {
			r.cfg.Reports.Keep(server, b.Status.SignedProvisioned)
			return nil
		}
	}
	var p resource.Provisioned
	if err := r.cfg.Link.OpenOf(a, wire.FactProvisioned, signed, &p); err != nil {
		return err
	}
	configs := store.Find(r.cfg.Objects, store.ConfigsByOwner, p.OwnerUID)
	i := slices.IndexFunc(configs, func(b *resource.BootConfiguration) bool {
		return b.Metadata.Generation == p.Generation && b.Spec.Server == p.Server && p.Server == server
	})
	if i < 0 || len(configs[i].Status.SignedProvisioned) > 0 {
		return nil
	}
	if err := r.once(ctx, "provisioned."+configs[i].Metadata.UID, signed); err != nil {
		return err
	}
	r.cfg.Crash.At("hub.provisioned.filed")
	own := store.Copy(r.cfg.Objects, configs[i])
	own.Status.Provisioned, own.Status.SignedProvisioned = &p, signed
	return r.cfg.Objects.Put(ctx, own)
}

// filedPerFact bounds the records that one fact is looked for in; a receipt that
// is revoked and given again is a record more.
const filedPerFact = 1000

// once appends a fact to the log unless it is there.
func (r *Room) once(ctx context.Context, subject string, data []byte) error {
	id := wire.Digest(data)
	if r.cfg.Reports.Filed(id) {
		return nil
	}
	records, err := r.cfg.Log.Read(ctx, subject, 1, filedPerFact)
	if err != nil {
		return err
	}
	for _, record := range records {
		if wire.Digest(record.Data) == id {
			r.cfg.Reports.File(id)
			return nil
		}
	}
	if _, err := r.cfg.Log.Append(ctx, subject, data, id); err != nil {
		return err
	}
	r.cfg.Reports.File(id)
	return nil
}
