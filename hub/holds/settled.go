package holds

import (
	"context"
	"slices"

	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// settled ends failovers whose holds were taken over, once the rack's agent has acknowledged a document with them: the
// document that lets it switch servers on again may arrive before that with the holds.
func (r *Room) settled(ctx context.Context, name string) error {
	rack, err := store.Peek[*resource.Rack](r.cfg.Store.Objects, name)
	if err != nil || rack.Status.Agent == "" || !r.cfg.Start.WorksFor(rack.Status.Agent) || !slices.ContainsFunc(rack.Status.TakenOver, adopts) {
		return nil //nolint:nilerr // it is gone
	}
	l, err := r.cfg.Store.Ledgers.Peek(rack.Status.Agent)
	if err != nil {
		return err
	}
	if sent, ok := l.Sent[message.LeafHold]; !ok || l.Acked[message.LeafHold] != sent.Head {
		return nil
	}
	has := r.cfg.Link.Ledgers.SentTo(rack.Status.Agent)
	own := store.Copy(r.cfg.Store.Objects, rack)
	own.Status.TakenOver = slices.DeleteFunc(own.Status.TakenOver, func(over resource.TakenOver) bool {
		return adopts(over) && !slices.ContainsFunc(over.Adopted, func(id string) bool {
			_, told := has[id]
			_, gone := store.Peek[*resource.Hold](r.cfg.Store.Objects, id)
			return !told && gone == nil
		})
	})
	if len(own.Status.TakenOver) == len(rack.Status.TakenOver) {
		return nil
	}
	return r.cfg.Store.Objects.Put(ctx, own)
}

func adopts(over resource.TakenOver) bool { return len(over.Adopted) > 0 }
