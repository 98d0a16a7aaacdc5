package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"rackboot/protocol"
	"rackboot/protocol/auditlog"
)

// Export writes the log to w as package auditlog describes: from the beginning of the
// segment that has the entry from, up to the entry that is the last one now, and the
// end that the hub signs. An export that stops with an error has no end.
//
// Errors: invalid if there is no entry from yet; not_found if segments were moved away
// meanwhile; unavailable if one cannot be read or w not be written; timeout if ctx ends.
func (l *Log) Export(ctx context.Context, w io.Writer, from uint64) error {
	const op = "export audit log"
	segments, last := l.has.after(from)
	if len(segments) == 0 || from > last.seq {
		return protocol.Errorf(protocol.CodeInvalid, op, "the log ends with entry %d", last.seq).WithHint("give a smaller --from")
	}
	end := auditlog.End{Hub: l.cfg.Hub, From: segments[0].first, Prev: segments[0].prev, Seq: last.seq, Hash: last.hash, At: l.cfg.Clock().UTC()}
	for _, s := range segments {
		err := l.copySegment(ctx, w, s)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return protocol.Errorf(protocol.CodeTimeout, op, "%w", context.Cause(ctx))
		case errors.Is(err, fs.ErrNotExist):
			return protocol.Errorf(protocol.CodeNotFound, op, "segment %s is not there any more", s.name()).
				WithHint("if it was moved away on purpose: give --from with the number of a later one")
		default:
			return protocol.Errorf(protocol.CodeUnavailable, op, "%s: %w", s.name(), err)
		}
	}
	line, err := auditlog.EndLine(l.cfg.Signer, end)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s\n", line); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, op, "%w", err)
	}
	return nil
}

// copySegment copies the complete lines of a segment.
func (l *Log) copySegment(ctx context.Context, w io.Writer, s segment) error {
	f, err := os.Open(l.path(s.name()))
	if err != nil {
		return err
	}
	defer f.Close()
	const chunk = 256 << 10
	for left := s.size; left > 0; left -= chunk {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := io.CopyN(w, f, min(left, chunk)); err != nil {
			return err
		}
	}
	return nil
}
