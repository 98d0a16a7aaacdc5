package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"rackboot/protocol"
	"rackboot/protocol/auditlog"
)

// Check reads all segments but the newest once, and that each goes on from the one
// before. One that does not fit is told of, and noted by a new segment unless it was
// before. It returns when it is done or ctx ends, with nil.
func (l *Log) Check(ctx context.Context) error {
	all, _ := l.has.after(0)
	noted := l.noted(ctx, all)
	for i := range len(all) - 1 {
		if ctx.Err() != nil {
			return nil
		}
		wrong, err := l.checkOne(all[i], all[i+1])
		switch {
		case errors.Is(err, fs.ErrNotExist): // moved away meanwhile
			continue
		case err != nil:
			l.log.Warn("audit log segment cannot be read", "segment", all[i].name(), "err", err)
			continue
		case wrong == nil:
			continue
		}
		l.note(all[i], wrong)
		if noted[target(all[i])] {
			continue
		}
		select {
		case l.breaks <- beginning{op: protocol.AuditOpBreak, target: target(all[i]), detail: wrong.Error()}:
		case <-ctx.Done():
		case <-l.stopped:
		}
	}
	return nil
}

// noted are the targets of all segments that begin with a note of a broken one.
func (l *Log) noted(ctx context.Context, all []segment) map[string]bool {
	out := map[string]bool{}
	for _, s := range all {
		if s.op != protocol.AuditOpBreak || ctx.Err() != nil {
			continue
		}
		if list, _, err := l.Read(s.first, 1); err == nil && len(list) == 1 {
			out[list[0].Target] = true
		}
	}
	return out
}

// checkOne judges a segment, and the link to the next one.
func (l *Log) checkOne(s, next segment) (*auditlog.Finding, error) {
	res, err := l.scan(s)
	if err != nil {
		return nil, err
	}
	return judge(res, next), nil
}

// judge says what is wrong with a segment, read as res, of which next is the next one.
//
//	the segment                | next begins with                | outcome
//	does not fit               |                                 | its finding
//	                           | nothing of the kind             | fits: the next one does not
//	ends in an incomplete line | audit-segment                   | altered
//	                           | audit-break, with the due number | fits: it was mended since
//	                           | another number than is due      | missing
//	                           | another prev                    | altered
//	else                       |                                 | fits
//
// The first row that fits decides.
func judge(res scanned, next segment) *auditlog.Finding {
	due := res.chain.Seq + 1
	switch {
	case res.wrong != nil:
		return res.wrong
	case !protocol.AuditBegins(next.op):
		return nil
	case res.torn > 0 && next.op == protocol.AuditOpSegment:
		return &auditlog.Finding{Fault: auditlog.Altered, Line: res.lines + 1, Seq: due, Why: "an incomplete line follows"}
	case next.op == protocol.AuditOpBreak && next.first == due:
		return nil
	case next.first != due:
		return &auditlog.Finding{Fault: auditlog.Missing, Line: res.lines + 1, Seq: due, Why: fmt.Sprintf("the next segment begins with entry %d", next.first)}
	case next.prev != res.chain.Hash:
		return &auditlog.Finding{Fault: auditlog.Altered, Line: res.lines, Seq: res.chain.Seq, Why: "the next segment follows another entry"}
	}
	return nil
}
