package auditcopy

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"rackboot/protocol/auditlog"
)

const (
	maxHub  = 64 // bytes of a hub's name, as package cluster has it
	maxHash = 71 // sha256: and its digits
)

// look asks for the others' heads. One that cannot be read stays as it was.
func (r *Room) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	hubs, err := r.hubs(ctx)
	if err != nil {
		return err
	}
	for _, hub := range hubs {
		if hub == r.cfg.Hub {
			continue
		}
		h, err := r.cfg.Head(ctx, hub)
		if err != nil {
			return err
		}
		r.mu.Lock()
		r.others[hub] = later(r.others[hub], auditlog.Head{Hub: hub, Seq: h.Seq, Hash: h.Hash})
		r.mu.Unlock()
	}
	return nil
}

// hubs are the names of all hubs that have records in the stream or have told the store of themselves, and of this one.
func (r *Room) hubs(ctx context.Context) ([]string, error) {
	j, err := r.stream(ctx)
	if err != nil {
		return nil, err
	}
	hubs, err := j.Writers(ctx)
	if err != nil {
		return nil, err
	}
	hubs = slices.Concat(hubs, r.cfg.Hubs(), []string{r.cfg.Hub})
	slices.Sort(hubs)
	return slices.Compact(hubs), nil
}

// Others are the ends of the others' logs for this hub to sign; before is what it has signed last. It does not wait.
func (r *Room) Others(before []auditlog.Head) []auditlog.Head {
	r.mu.Lock()
	defer r.mu.Unlock()
	return merge(before, slices.Collect(maps.Values(r.others)), r.cfg.Hub)
}

// merge is the later of each hub's heads, by hub; never an earlier one than was signed before, also where the store was
// put back from a copy. self is left out, and what is more or longer than fits in a checkpoint: who writes to the store
// does not make a line of this log that is too long.
func merge(before, now []auditlog.Head, self string) []auditlog.Head {
	all := map[string]auditlog.Head{}
	for _, h := range slices.Concat(before, now) {
		if h.Seq > 0 && h.Hub != self && len(h.Hub) <= maxHub && len(h.Hash) <= maxHash {
			all[h.Hub] = later(all[h.Hub], h)
		}
	}
	out := slices.SortedFunc(maps.Values(all), func(a, b auditlog.Head) int { return cmp.Compare(a.Hub, b.Hub) })
	return out[:min(len(out), auditlog.MaxOthers)]
}

// later is the one with the greater number; of two with one number the first.
func later(a, b auditlog.Head) auditlog.Head {
	if b.Seq > a.Seq {
		return b
	}
	return a
}
