package audit

import (
	"os"

	"rackboot/protocol"
	"rackboot/protocol/auditlog"
)

// The crash points.
const (
	PointWrite   = "hub.audit.write"   // a batch is about to be written
	PointWritten = "hub.audit.written" // it is written and not fsynced
	PointSynced  = "hub.audit.synced"  // it is fsynced and nobody knows
	PointSegment = "hub.audit.segment" // a new segment is fsynced under its temporary name
	PointRenamed = "hub.audit.renamed" // it has its name
)

// points lists the crash points.
var points = []string{PointWrite, PointWritten, PointSynced, PointSegment, PointRenamed}

// beginning is why a segment begins.
type beginning struct {
	op     string
	target string // the segment that is broken
	detail string
	// seq and prev of the first entry; seq 0 is after the head.
	seq  uint64
	prev string
}

// begin begins the segment that is due. Until it has, nothing is written to the one
// before: a file that was renamed and is not known to be may be there.
func (l *Log) begin() error {
	b := *l.due
	if b.seq == 0 {
		b.seq, b.prev = l.has.head.seq+1, l.has.head.hash
	}
	e := protocol.AuditEntry{
		Seq: b.seq, At: l.cfg.Clock(), Caller: callerHub, From: callerHub, Op: b.op, Target: b.target,
		Outcome: protocol.AuditAccepted, Detail: b.detail, Prev: b.prev,
	}.Bounded()
	if err := l.sign(&e); err != nil {
		return err
	}
	s := segment{first: e.Seq, at: e.At, prev: e.Prev, op: e.Op}
	line := append(e.Line(), '\n')
	s.size = int64(len(line))
	temp := l.path(tempPrefix + s.name())
	f, err := l.create(temp)
	if err != nil {
		return l.failed("create a segment", err)
	}
	if err := l.bear(f, temp, s, line); err != nil {
		_ = f.Close()
		_ = os.Remove(temp)
		return l.failed("begin a segment", err)
	}
	if l.file != nil {
		_ = l.file.Close() // all of it is fsynced
	}
	l.file, l.due, l.spoilt = f, nil, false
	l.has.mu.Lock()
	defer l.has.mu.Unlock()
	l.has.uncovered = 0
	l.has.segments = append(l.has.segments, s)
	l.has.head = head{e.Seq, e.Hash}
	return nil
}

// sign signs an entry of the log's own, with what is known of other hubs.
func (l *Log) sign(e *protocol.AuditEntry) error {
	if l.cfg.Others != nil {
		l.others = l.cfg.Others(l.others)
	}
	return auditlog.Sign(l.cfg.Signer, e, auditlog.Known{Hub: l.cfg.Hub, Others: l.others})
}

// bear writes the first line and gives the file its name. The file stays open under it.
func (l *Log) bear(f segmentFile, temp string, s segment, line []byte) error {
	if _, err := f.Write(line); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	l.cfg.Crash.At(PointSegment)
	if err := os.Rename(temp, l.path(s.name())); err != nil {
		return err
	}
	l.cfg.Crash.At(PointRenamed)
	return l.syncFolder()
}
