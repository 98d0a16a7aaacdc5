package auditcopy

import (
	"context"
	"errors"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/auditlog"
	"rackboot/state"
)

// turn copies what is not copied yet.
func (r *Room) turn(ctx context.Context) error {
	if r.Wrong() != nil {
		return nil
	}
	err := r.copy(ctx)
	switch {
	case err == nil:
		if r.failing {
			r.failing = false
			r.log.Info("the audit log is copied again")
		}
	case ctx.Err() != nil: // it was stopped
	default:
		r.metrics.failures.Inc()
		if !r.failing {
			r.failing = true
			r.log.Warn("the audit log is not copied to the store's servers; it is tried again", "err", err, "hint", protocol.HintOf(err))
		}
	}
	return err
}

func (r *Room) copy(ctx context.Context) error {
	r.waits()
	j, err := r.stream(ctx)
	if err != nil {
		return err
	}
	for {
		if !r.looked {
			if err := r.compare(ctx, j); err != nil || !r.looked {
				return err
			}
		}
		if head, _ := r.own.Head(); r.next > head { // a read goes over the newest segment
			return nil
		}
		entries, _, err := r.own.Read(r.next, maxRun)
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			return nil
		}
		n := pack(entries, r.skipping)
		if n.skipped > 0 {
			r.log.Error("entries of the audit log cannot be read, and are not copied", "before", n.next, "entries", n.skipped)
		}
		if n.entries > 0 {
			seq, err := j.Append(ctx, r.cfg.Hub, n.data, r.last)
			if errors.Is(err, state.ErrConflict) {
				r.looked = false
				r.metrics.conflicts.Inc()
			}
			if err != nil {
				return err
			}
			r.last = seq
			r.metrics.entries.Add(float64(n.entries))
			r.reached(n.last)
		}
		r.next, r.skipping = n.next, n.entries == 0
		r.waits()
	}
}

// compare holds the stream to the files, and finds where to go on.
func (r *Room) compare(ctx context.Context, j Journal) error {
	end, last, err := r.end(ctx, j, r.cfg.Hub)
	if err != nil {
		if protocol.CodeOf(err) == protocol.CodeInvalid {
			r.differ(&auditlog.Finding{Fault: auditlog.Altered, Hub: r.cfg.Hub, Why: "what the stream has last is no part of the log: " + err.Error()})
			return nil
		}
		return err
	}
	var next protocol.AuditEntry
	if end.Seq > 0 {
		list, _, err := r.own.Read(end.Seq, 1)
		if err != nil {
			return err
		}
		if len(list) == 1 {
			next = list[0]
		}
	}
	wrong, gone := compare(end, next)
	if wrong != nil {
		r.differ(wrong)
		return nil
	}
	if gone > 0 {
		r.log.Error("entries of the audit log are neither in its files nor in the stream", "after", end.Seq, "entries", gone)
	}
	r.looked, r.last, r.skipping = true, last, false
	r.next = max(end.Seq+1, next.Seq)
	r.reached(end)
	return nil
}

// end is the last entry that the stream has of a hub, and the sequence of its record; zero if it has none.
func (r *Room) end(ctx context.Context, j Journal, hub string) (auditlog.Head, uint64, error) {
	rec, err := j.Last(ctx, hub)
	if errors.Is(err, state.ErrNotFound) {
		return auditlog.Head{Hub: hub}, 0, nil
	}
	if err != nil {
		return auditlog.Head{}, 0, err
	}
	end, err := endOf(hub, rec.Data)
	return end, rec.Seq, err
}

// differ ends the copy.
func (r *Room) differ(wrong *auditlog.Finding) {
	r.log.Error("the audit log and its copy on the store's servers differ: nothing is copied, and nothing was written over", "code", wrong.Code(), "finding", wrong.Error(),
		"hint", "look whether another hub has the same store.nats.name, or somebody has changed its files or the stream; rackctl audit export --hub has both, of this hub and of another one")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrong = wrong
	r.wake()
}

// waits notes since when entries wait to be copied.
func (r *Room) waits() {
	head, _ := r.own.Head()
	now := r.cfg.Clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.copied.Seq >= head:
		r.behind = time.Time{}
	case r.behind.IsZero():
		r.behind = now
	}
}

// reached notes what is copied, and wakes who waits for it.
func (r *Room) reached(end auditlog.Head) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.copied = end
	r.wake()
}

// wake wakes who waits. The lock is held.
func (r *Room) wake() {
	close(r.moved)
	r.moved = make(chan struct{})
}

// await waits until an entry is copied. Errors: unavailable if ctx ends first, or nothing is copied any more.
func (r *Room) await(ctx context.Context, seq uint64) error {
	const op = "copy audit log"
	for {
		r.mu.Lock()
		copied, moved, wrong := r.copied.Seq, r.moved, r.wrong
		r.mu.Unlock()
		switch {
		case copied >= seq:
			return nil
		case wrong != nil:
			return protocol.Errorf(protocol.CodeUnavailable, op, "%w", wrong).WithHint("rackctl audit export --hub %s has this hub's own log; the hub's log says what to look at", r.cfg.Hub)
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return protocol.Errorf(protocol.CodeUnavailable, op, "the copy on the store's servers has entry %d, and the log entry %d", copied, seq).
				WithHint("try again; if it stays so, look at the NATS servers. rackctl audit export --hub %s has this hub's own log", r.cfg.Hub)
		}
	}
}

// Follow waits until an entry is copied, or for as long as the head in the store may wait for that. Before Start it does
// not wait. Errors: conflict if the copy differs: the log under this name that the others know is not this one.
func (r *Room) Follow(ctx context.Context, seq uint64) error {
	if !r.started() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, headWait)
	defer cancel()
	_ = r.await(ctx, seq) // the store's head is worth more than its order
	if wrong := r.Wrong(); wrong != nil {
		return protocol.Errorf(protocol.CodeConflict, "copy audit log", "%w", wrong)
	}
	return nil
}

// End is the last entry that the stream has of this hub; zero if it has none. It may be newer than what the store knows.
func (r *Room) End(ctx context.Context) (auditlog.Head, error) {
	j, err := r.stream(ctx)
	if err != nil {
		return auditlog.Head{}, err
	}
	end, _, err := r.end(ctx, j, r.cfg.Hub)
	return end, err
}
