package auditcopy

import (
	"bytes"
	"fmt"

	"rackboot/protocol"
	"rackboot/protocol/auditlog"
)

const (
	// maxRecord bounds a record, in bytes; a line that is longer than the room that is left begins another one.
	maxRecord = 64 << 10
	// maxRun bounds the entries of a record.
	maxRun = 256
)

// run is what comes next of the files.
type run struct {
	data    []byte        // of a record; empty where nothing can be copied
	last    auditlog.Head // its last entry
	entries int
	next    uint64 // the number to go on with
	skipped int    // entries that cannot be copied
}

// pack makes a record of the next entries of the files. A line that cannot be read is not copied, nor what follows up
// to the next segment; skipping says that one was met before.
func pack(entries []protocol.AuditEntry, skipping bool) (r run) {
	for i, e := range entries {
		begins := protocol.AuditBegins(e.Op)
		unreadable := e.Hash == "" // package audit makes up an entry for it
		line := e.Line()
		switch {
		case r.entries > 0 && (unreadable || begins || r.entries == maxRun || len(r.data)+len(line) >= maxRecord || e.Seq != entries[i-1].Seq+1):
			return r
		case unreadable || skipping && !begins:
			skipping = true
			r.skipped++
			r.next = e.Seq + 1
			continue
		}
		skipping = false
		r.data = append(append(r.data, line...), '\n')
		r.last = auditlog.Head{Seq: e.Seq, Hash: e.Hash}
		r.entries++
		r.next = e.Seq + 1
	}
	return r
}

// unpack reads the entries of a record. Errors: invalid.
func unpack(data []byte) (out []protocol.AuditEntry, err error) {
	const op = "read a record of the audit log"
	for line := range bytes.Lines(data) {
		text, ended := bytes.CutSuffix(line, []byte("\n"))
		if !ended {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "its last line has no end")
		}
		e, err := protocol.ParseAuditLine(text)
		if err != nil {
			return nil, err
		}
		if e.Hash != e.Sum() || len(out) > 0 && e.Seq != out[len(out)-1].Seq+1 {
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "entry %d is not the one that was written here", e.Seq)
		}
		out = append(out, e)
	}
	if len(out) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "it is empty")
	}
	return out, nil
}

// endOf is the last entry of a record.
func endOf(hub string, data []byte) (auditlog.Head, error) {
	entries, err := unpack(data)
	if err != nil {
		return auditlog.Head{}, fmt.Errorf("hub %s: %w", hub, err)
	}
	last := entries[len(entries)-1]
	return auditlog.Head{Hub: hub, Seq: last.Seq, Hash: last.Hash}, nil
}
