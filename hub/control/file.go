package control

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
)

// Told files what an agent says of a server, and takes over the holds that it enforces there.
func (c *Control) Told(ctx context.Context, a *resource.Agent, s resource.ServerReport) error {
	return errors.Join(c.file(ctx, a, s), c.adopt(ctx, a, s))
}

// Found keeps which BMCs a report names.
func (c *Control) Found(r message.Report) bool { return c.Inventory.Found(r) }

// SealKey takes the key that secrets are sealed for.
func (c *Control) SealKey(ctx context.Context, agent string, key []byte) error {
	return c.Inventory.SealKey(ctx, agent, key)
}

// file keeps signed facts append-only, and the outcomes of requests. One that
// cannot be kept does not stop the others; it comes again with the next report.
func (c *Control) file(ctx context.Context, a *resource.Agent, s resource.ServerReport) error {
	var errs []error
	for _, h := range s.Holds {
		errs = append(errs, c.fileReceipt(ctx, a, s.Server, h))
	}
	for _, q := range s.Requests {
		errs = append(errs, c.fileOutcome(ctx, s.Server, q))
	}
	if len(s.Provisioned) > 0 {
		errs = append(errs, c.fileProvisioned(ctx, a, s))
	}
	return errors.Join(errs...)
}

func (c *Control) fileReceipt(ctx context.Context, a *resource.Agent, server string, h resource.HoldReport) error {
	if len(h.Receipt) == 0 || c.reports.Filed(wire.Digest(h.Receipt)) {
		return nil
	}
	var r resource.Receipt
	if err := c.Link.OpenOf(a, wire.FactReceipt, h.Receipt, &r); err != nil {
		return err
	}
	if r.HoldID != h.ID || r.Server != server {
		return protocol.Errorf(protocol.CodeDenied, "file a receipt", "agent %s sent the receipt of hold %s on %s for hold %s on %s",
			a.Metadata.Name, r.HoldID, r.Server, h.ID, server)
	}
	return c.fileOnce(ctx, "receipt."+r.HoldID, h.Receipt)
}

// fileOutcome keeps how a request ended. The first end stays.
func (c *Control) fileOutcome(ctx context.Context, server string, q resource.RequestReport) error {
	st, err := c.cfg.Store.GetRequest(q.ID)
	if err != nil || st.Server != server || st.Report.Outcome.Ended() || !q.Outcome.Ended() {
		return nil
	}
	st.Report = q
	return c.cfg.Store.PutRequest(ctx, st)
}

// fileProvisioned keeps an agent's record for its configuration. It is never
// unset. What is kept already was verified then, and is looked for first: nearly every
// report of an installed server repeats it.
func (c *Control) fileProvisioned(ctx context.Context, a *resource.Agent, s resource.ServerReport) error {
	server, signed := s.Server, s.Provisioned
	for _, b := range store.Find(c.cfg.Store, store.ConfigsByOwner, s.OwnerUID) {
		if bytes.Equal(b.Status.SignedProvisioned, signed) {
			c.reports.Keep(server, b.Status.SignedProvisioned)
			return nil
		}
	}
	var p resource.Provisioned
	if err := c.Link.OpenOf(a, wire.FactProvisioned, signed, &p); err != nil {
		return err
	}
	configs := store.Find(c.cfg.Store, store.ConfigsByOwner, p.OwnerUID)
	i := slices.IndexFunc(configs, func(b *resource.BootConfiguration) bool {
		return b.Metadata.Generation == p.Generation && b.Spec.Server == p.Server && p.Server == server
	})
	if i < 0 || len(configs[i].Status.SignedProvisioned) > 0 {
		return nil
	}
	if err := c.fileOnce(ctx, "provisioned."+configs[i].Metadata.UID, signed); err != nil {
		return err
	}
	c.cfg.Crash.At("hub.provisioned.filed")
	own := store.Copy(c.cfg.Store, configs[i])
	own.Status.Provisioned, own.Status.SignedProvisioned = &p, signed
	return c.cfg.Store.Put(ctx, own)
}

// filedPerFact bounds the records that one fact is looked for in; a receipt that
// is revoked and given again is a record more.
const filedPerFact = 1000

// fileOnce appends a fact to the log unless it is there.
func (c *Control) fileOnce(ctx context.Context, subject string, data []byte) error {
	id := wire.Digest(data)
	if c.reports.Filed(id) {
		return nil
	}
	records, err := c.cfg.Store.ReadLog(ctx, subject, 1, filedPerFact)
	if err != nil {
		return err
	}
	for _, r := range records {
		if wire.Digest(r.Data) == id {
			c.reports.File(id)
			return nil
		}
	}
	if _, err := c.cfg.Store.Append(ctx, subject, data, id); err != nil {
		return err
	}
	c.reports.File(id)
	return nil
}
