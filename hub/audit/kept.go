package audit

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/auditlog"
)

// Head is the last entry of a log; its Seq is 0 before the first.
type Head struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// Heads keeps the head of a log elsewhere than in the log's own files. By the files alone, a
// log whose end was cut off between two entries is a whole one.
type Heads interface {
	// AuditHead is what was kept last; the zero Head if nothing was.
	AuditHead(ctx context.Context) (Head, error)
	// KeepAuditHead returns when the head is on disk.
	KeepAuditHead(ctx context.Context, h Head) error
}

const (
	// keepEvery is the least time between two heads that are kept: what is cut off within it
	// before the hub dies is not noticed.
	keepEvery = time.Second
	// placeTimeout bounds a question to where they are kept.
	placeTimeout = 10 * time.Second
)

// compareRule says what a kept head tells of the files. An entry is synced to its file before its
// number is kept, so that a kept head behind the files is what a crash leaves, and files behind
// the kept head have lost something. The first row that fits decides.
//
//	kept | files' head | the entry of its number | verdict
//	none | *           | *                       | fits
//	some | before it   | *                       | cut
//	some | *           | another                 | altered
//	some | *           | *                       | fits
//
// The entry may be gone with its segment, which was archived.
func compareRule(kept, before, another bool) auditlog.Fault {
	switch {
	case !kept:
		return ""
	case before:
		return auditlog.Cut
	case another:
		return auditlog.Altered
	}
	return ""
}

// keeper keeps the head of a log where Heads does.
type keeper struct {
	heads   Heads // nil keeps nothing
	log     *slog.Logger
	has     *contents
	written <-chan struct{} // is closed when the writer has ended
	done    chan struct{}   // is closed when the keeper has ended
	kept    Head
	failing bool
}

// compare holds the files to the kept head. What is lost is noted by the next segment.
func (l *Log) compare() error {
	if l.cfg.Heads == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), placeTimeout)
	defer cancel()
	kept, err := l.cfg.Heads.AuditHead(ctx)
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "open audit log", "its kept head cannot be read: %w", err).
			WithHint("look at the hub's store")
	}
	l.keeper.kept = kept
	another := ""
	if kept.Seq > 0 && kept.Seq <= l.has.head.seq {
		list, _, err := l.Read(kept.Seq, 1)
		if err != nil {
			return err
		}
		if len(list) == 1 && list[0].Seq == kept.Seq && list[0].Hash != kept.Hash {
			another = list[0].Hash
		}
	}
	fault := compareRule(kept.Seq > 0, l.has.head.seq < kept.Seq, another != "")
	if fault == "" {
		return nil
	}
	wrong := &auditlog.Finding{Fault: fault, Seq: l.has.head.seq + 1, Why: fmt.Sprintf("%s not there, at the tail; the store knows entry %d, hash %s", missing(l.has.head.seq+1, kept.Seq), kept.Seq, kept.Hash)}
	b := beginning{op: protocol.AuditOpBreak, seq: kept.Seq + 1, prev: kept.Hash}
	if fault == auditlog.Altered {
		wrong.Seq, wrong.Why = kept.Seq, fmt.Sprintf("entry %d is another than was written: the store knows it with hash %s", kept.Seq, kept.Hash)
		b.seq, b.prev = l.has.head.seq+1, l.has.head.hash
	}
	newest := segment{first: 1} // where all are gone
	if len(l.has.segments) > 0 {
		newest = l.has.current()
	}
	b.target, b.detail = target(newest), wrong.Error()
	if l.due != nil && l.due.op == protocol.AuditOpBreak {
		b.detail = l.due.detail + "; " + b.detail
		b.seq = max(b.seq, l.due.seq)
	}
	l.note(newest, wrong)
	l.due = &b
	return nil
}

// missing names a run of entries.
func missing(from, to uint64) string {
	if from == to {
		return fmt.Sprintf("entry %d is", from)
	}
	return fmt.Sprintf("entries %d to %d are", from, to)
}

// keep keeps the head, when it has moved, once in keepEvery, until the writer has ended; and
// then what it wrote last.
func (k *keeper) run() {
	defer close(k.done)
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			k.keep()
		case <-k.written:
			k.keep()
			return
		}
	}
}

func (k *keeper) keep() {
	last := k.has.last()
	h := Head{last.seq, last.hash}
	if h.Seq == k.kept.Seq {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), placeTimeout)
	defer cancel()
	if err := k.heads.KeepAuditHead(ctx, h); err != nil {
		if !k.failing {
			k.failing = true
			k.log.Warn("the head of the audit log is not kept in the store; it is tried again", "err", err)
		}
		return
	}
	k.kept, k.failing = h, false
}
