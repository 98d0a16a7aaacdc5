package auditcopy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/auditlog"
	"rackboot/state"
)

const (
	exportPage = 64 // records that an export has in memory
	// pageWait bounds how long an export tries to read on, as while the stream has no leader.
	pageWait = time.Minute
)

const opExport = "export audit log"

// Export makes an export of all hubs' logs, up to one place in the stream, that package auditlog verifies. What can be
// refused is refused before a byte is written. An export that stops with an error has no end.
//
// Errors: unavailable if this hub's log is not copied, or the stream or w fails; timeout if ctx ends.
func (r *Room) Export(ctx context.Context) (func(ctx context.Context, w io.Writer) error, error) {
	wait, cancel := context.WithTimeout(ctx, exportWait)
	defer cancel()
	j, err := r.stream(wait)
	if err != nil {
		return nil, err
	}
	head, _ := r.own.Head()
	if err := r.await(wait, head); err != nil {
		return nil, err
	}
	hubs, err := r.hubs(ctx)
	if err != nil {
		return nil, err
	}
	known, err := r.settled(ctx, wait, j, hubs)
	if err != nil {
		return nil, err
	}
	newest, err := j.Newest(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, w io.Writer) error {
		end := auditlog.SiteEnd{By: r.cfg.Hub, At: r.cfg.Clock().UTC()}
		for _, hub := range hubs {
			x := &exporting{room: r, j: j, hub: hub, upTo: newest, at: end.At, header: true, w: w}
			log, err := x.all(ctx)
			if err != nil {
				return err
			}
			log.KnownSeq, log.KnownHash = known[hub].Seq, known[hub].Hash
			if log.Seq > 0 || log.KnownSeq > 0 {
				end.Logs = append(end.Logs, log)
			}
		}
		line, err := auditlog.SiteEndLine(r.cfg.Signer, end)
		if err != nil {
			return err
		}
		return written(fmt.Fprintf(w, "%s\n", line))
	}, nil
}

// settled are the heads that the store knows, and waits for those of hubs that copy their logs until they are in the
// stream, or wait ends: then the export says what is not there.
func (r *Room) settled(ctx, wait context.Context, j Journal, hubs []string) (map[string]auditlog.Head, error) {
	out := map[string]auditlog.Head{}
	for _, hub := range hubs {
		known, err := r.cfg.Head(ctx, hub)
		if err != nil {
			return nil, err
		}
		out[hub] = known
		for {
			end, _, err := r.end(ctx, j, hub)
			if err != nil && protocol.CodeOf(err) != protocol.CodeInvalid { // what is no entry is exported as it is
				return nil, err
			}
			if err != nil || end.Seq == 0 || end.Seq >= known.Seq {
				break
			}
			select {
			case <-time.After(copyEvery):
				continue
			case <-wait.Done():
			}
			break
		}
	}
	return out, ctx.Err()
}

// ExportOf makes an export of one hub's log: of its files if it is this one's, else of the stream. from is an entry of
// the first segment; 0 is all.
//
// Errors: as Export; not_found for a hub of which nothing is there, invalid if its log has no entry from yet.
func (r *Room) ExportOf(ctx context.Context, hub string, from uint64) (func(ctx context.Context, w io.Writer) error, error) {
	if hub == r.cfg.Hub {
		if head, _ := r.own.Head(); from > head {
			return nil, beyond(hub, head)
		}
		return func(ctx context.Context, w io.Writer) error { return r.own.Export(ctx, w, from) }, nil
	}
	if err := r.has(ctx, opExport, hub); err != nil {
		return nil, err
	}
	j := r.opened()
	end, last, err := r.end(ctx, j, hub)
	if err != nil {
		return nil, err
	}
	if from > end.Seq {
		return nil, beyond(hub, end.Seq)
	}
	return func(ctx context.Context, w io.Writer) error {
		x := &exporting{room: r, j: j, hub: hub, upTo: last, at: r.cfg.Clock().UTC(), w: w}
		if from > 1 {
			begin, err := x.segment(ctx, from)
			if err != nil {
				return err
			}
			x.begin = begin
		}
		log, err := x.all(ctx)
		if err == nil && log.Seq == 0 {
			err = protocol.Errorf(protocol.CodeNotFound, opExport, "no segment of the log of hub %s begins in what the servers have", hub)
		}
		return err
	}, nil
}

func beyond(hub string, last uint64) error {
	return protocol.Errorf(protocol.CodeInvalid, opExport, "the log of hub %s ends with entry %d", hub, last).WithHint("give a smaller --from")
}

// exporting is an export of a hub's log out of the stream.
type exporting struct {
	room   *Room
	j      Journal
	hub    string
	begin  uint64 // sequence of the first record
	upTo   uint64 // sequence of the stream after which nothing is exported
	at     time.Time
	header bool // it is one of several
	w      io.Writer
}

// all writes the log from the first segment that begins, and its end. A log of which no segment begins is not written.
func (x *exporting) all(ctx context.Context) (log auditlog.SiteLog, err error) {
	log.Hub = x.hub
	end := auditlog.End{Hub: x.hub, At: x.at}
	err = x.records(ctx, x.begin, func(rec state.Record) error {
		entries, err := unpack(rec.Data)
		if err != nil && end.Seq == 0 {
			return nil // what precedes the first segment is not exported
		}
		if err != nil {
			return protocol.Errorf(protocol.CodeInternal, opExport, "hub %s: what the stream has under sequence %d is no part of a log, after entry %d: %w", x.hub, rec.Seq, end.Seq, err)
		}
		data := rec.Data
		for end.Seq == 0 && len(entries) > 0 && !protocol.AuditBegins(entries[0].Op) {
			data = data[len(entries[0].Line())+1:]
			entries = entries[1:]
		}
		if len(entries) == 0 {
			return nil
		}
		if end.Seq == 0 {
			end.From, end.Prev = entries[0].Seq, entries[0].Prev
			if x.header {
				if err := written(fmt.Fprintf(x.w, "%s\n", auditlog.HubLine(x.hub))); err != nil {
					return err
				}
			}
		}
		last := entries[len(entries)-1]
		end.Seq, end.Hash = last.Seq, last.Hash
		return written(x.w.Write(data))
	})
	if err != nil || end.Seq == 0 {
		return log, err
	}
	log.From, log.Seq, log.Hash = end.From, end.Seq, end.Hash
	line, err := auditlog.EndLine(x.room.cfg.Signer, end)
	if err != nil {
		return log, err
	}
	return log, written(fmt.Fprintf(x.w, "%s\n", line))
}

// segment is the sequence of the record with which the segment begins that has an entry. All before it is read.
func (x *exporting) segment(ctx context.Context, from uint64) (begin uint64, err error) {
	err = x.records(ctx, 1, func(rec state.Record) error {
		entries, err := unpack(rec.Data)
		switch {
		case err != nil: // it is told of if it is exported
		case entries[0].Seq > from:
			return errFound
		case protocol.AuditBegins(entries[0].Op):
			begin = rec.Seq
		}
		return nil
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return begin, err
}

var errFound = errors.New("found")

// records reads the hub's records from one on, to the last one that the stream had. A page that cannot be read is asked
// for again for a while: the stream's leader may be elected.
func (x *exporting) records(ctx context.Context, from uint64, each func(state.Record) error) error {
	next := max(from, 1)
	for begun := time.Now(); next <= x.upTo; {
		page, err := x.j.Read(ctx, x.hub, next, exportPage)
		if err == nil && len(page) == 0 {
			err = x.ended(ctx, next)
			if err == nil {
				return nil
			}
		}
		if err != nil {
			if ctx.Err() != nil {
				return protocol.Errorf(protocol.CodeTimeout, opExport, "%w", context.Cause(ctx))
			}
			if time.Since(begun) > pageWait {
				return err
			}
			select {
			case <-time.After(retryAfter):
			case <-ctx.Done():
			}
			continue
		}
		begun = time.Now()
		for _, rec := range page {
			if rec.Seq > x.upTo {
				return nil
			}
			if err := each(rec); err != nil {
				return err
			}
			next = rec.Seq + 1
		}
	}
	return nil
}

// ended asks the stream's leader whether it has no record of the hub from a sequence on that is to be exported: a copy that
// lags behind gives nothing too.
func (x *exporting) ended(ctx context.Context, next uint64) error {
	rec, err := x.j.Next(ctx, x.hub, next)
	switch {
	case errors.Is(err, state.ErrNotFound), err == nil && rec.Seq > x.upTo:
		return nil
	case err != nil:
		return err
	}
	return protocol.Errorf(protocol.CodeUnavailable, opExport, "hub %s: the stream has a record of sequence %d and does not give it", x.hub, rec.Seq).
		WithHint("try again; if it stays so, look at your NATS servers")
}

// written is the error of a write.
func written(_ int, err error) error {
	if err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, opExport, "%w", err)
	}
	return nil
}
