package audit

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"rackboot/protocol"
)

// OpUnreadable is the operation of an entry that Read makes up for a line that is none.
const OpUnreadable = "audit-unreadable"

// Read returns up to limit entries from the number from on, oldest first, and the
// number to go on with; that is one more than the head's where the log ends. Entries
// that were moved away are passed over. A line that is not the entry of its place is
// shown as one with [OpUnreadable].
//
// Errors: unavailable if a segment cannot be read.
func (l *Log) Read(from uint64, limit int) (entries []protocol.AuditEntry, next uint64, err error) {
	segments, _ := l.has.after(from)
	for i, s := range segments {
		room := limit - len(entries)
		if room <= 0 {
			break
		}
		next = max(from, s.first)
		more, err := l.readSegment(s, next, room)
		switch {
		case errors.Is(err, fs.ErrNotExist) && i < len(segments)-1:
			continue // moved away
		case err != nil:
			return nil, 0, l.failed("read "+s.name(), err)
		}
		entries = append(entries, more...)
		next += uint64(len(more))
	}
	return entries, next, nil
}

// Since is the number of an entry before which all are older than at.
func (l *Log) Since(at time.Time) uint64 { return l.has.since(at) }

func (l *Log) readSegment(s segment, from uint64, limit int) ([]protocol.AuditEntry, error) {
	f, err := os.Open(l.path(s.name()))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(io.LimitReader(f, s.size), protocol.MaxAuditLine+1)
	var out []protocol.AuditEntry
	for seq := s.first; len(out) < limit; seq++ {
		line, err := readLine(r)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if seq >= from {
			out = append(out, parse(line, seq))
		}
	}
	return out, nil
}

// readLine reads a line without its end. One that is too long is read as an empty one.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err == nil {
		return line[:len(line)-1], nil
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.ReadSlice('\n')
	}
	return nil, err
}

func parse(line []byte, seq uint64) protocol.AuditEntry {
	e, err := protocol.ParseAuditLine(line)
	switch {
	case err != nil:
		return protocol.AuditEntry{Seq: seq, Op: OpUnreadable, Outcome: protocol.AuditFailed, Detail: err.Error()}
	case e.Seq != seq || e.Hash != e.Sum():
		return protocol.AuditEntry{Seq: seq, Op: OpUnreadable, Outcome: protocol.AuditFailed, Detail: "the line is not the entry that was written here"}
	}
	return e
}
