package audit

import (
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/auditlog"
)

// callerHub is the caller of the log's own entries.
const callerHub = "hub"

// pending is an entry that waits to be written. entry and err are the writer's until
// done is closed.
type pending struct {
	entry protocol.AuditEntry
	err   error
	done  chan struct{}
}

// run writes until stop, and then what still waits.
func (l *Log) run() {
	defer close(l.stopped)
	others := time.NewTicker(l.cfg.CheckpointAfter)
	defer others.Stop()
	timer := time.NewTimer(l.cfg.CheckpointAfter)
	if l.has.uncovered == 0 {
		timer.Stop()
	}
	for {
		before, breaks := l.has.uncovered, l.breaks
		if l.due != nil {
			breaks = nil // one after the other
		}
		select {
		case p := <-l.queue:
			l.write(l.gather(p))
		case b := <-breaks:
			l.due = &b
			l.write(nil)
		case <-timer.C:
			l.checkpoint()
			before = 0
		case <-others.C:
			if l.othersWrote() {
				_ = l.put(nil, true) // it is told of
			}
		case <-l.stop:
			for {
				select {
				case p := <-l.queue:
					l.write(l.gather(p))
					continue
				default:
				}
				l.checkpoint()
				return
			}
		}
		switch {
		case l.has.uncovered == 0:
			timer.Stop()
		case before == 0:
			timer.Reset(l.cfg.CheckpointAfter)
		}
	}
}

// gather takes what waits besides p.
func (l *Log) gather(p *pending) []*pending {
	batch := []*pending{p}
	for len(batch) < maxBatch {
		select {
		case p := <-l.queue:
			batch = append(batch, p)
			continue
		default:
		}
		break
	}
	return batch
}

// checkpoint signs what was written since the last signed entry.
func (l *Log) checkpoint() {
	if l.has.uncovered > 0 {
		l.put(nil, true)
	}
}

// othersWrote reports whether another hub's log has gone on since this one has signed of it, by more than one entry: one
// alone is what that hub has signed of this log, and two hubs would answer one another for ever.
func (l *Log) othersWrote() bool {
	if l.cfg.Others == nil {
		return false
	}
	signed := map[string]uint64{}
	for _, h := range l.others {
		signed[h.Hub] = h.Seq
	}
	return slices.ContainsFunc(l.cfg.Others(l.others), func(h auditlog.Head) bool { return h.Seq > signed[h.Hub]+1 })
}

// write writes a batch and tells those that wait.
func (l *Log) write(batch []*pending) {
	err := l.put(batch, false)
	for _, p := range batch {
		if err != nil {
			p.entry, p.err = protocol.AuditEntry{}, err
		}
		close(p.done)
	}
}

// put appends a batch, and with sign or when it is time a checkpoint.
func (l *Log) put(batch []*pending, sign bool) error {
	err := l.ready()
	if err == nil && (len(batch) > 0 || sign) {
		err = l.append(batch, sign)
	}
	if err != nil {
		l.fail(err)
		return err
	}
	if l.failing {
		l.failing = false
		l.log.Info("audit log is written again")
	}
	return nil
}

// fail says that nothing can be written, once until it can.
func (l *Log) fail(err error) {
	l.metrics.failures.Inc()
	if !l.failing {
		l.failing = true
		l.log.Error("audit log cannot be written", "err", err, "hint", protocol.HintOf(err))
	}
}

// ready makes the file one that may be appended to.
func (l *Log) ready() error {
	if l.due == nil && l.has.current().size >= l.cfg.SegmentBytes {
		l.due = &beginning{op: protocol.AuditOpSegment}
	}
	if l.spoilt {
		if err := l.file.Truncate(l.has.current().size); err != nil {
			return l.failed("cut off what was not written whole", err)
		}
		l.spoilt = false
	}
	if l.due == nil {
		return nil
	}
	return l.begin()
}

func (l *Log) append(batch []*pending, sign bool) error {
	var buf []byte
	last, uncovered := l.has.head, l.has.uncovered
	now := l.cfg.Clock()
	add := func(e protocol.AuditEntry) {
		last = head{e.Seq, e.Hash}
		buf = append(append(buf, e.Line()...), '\n')
	}
	for _, p := range batch {
		e := p.entry
		e.Seq, e.At, e.Prev, e.Signed = last.seq+1, now, last.hash, nil
		e = e.Bounded()
		e.Hash = e.Sum()
		p.entry = e
		add(e)
		uncovered++
	}
	if sign || uncovered >= l.cfg.CheckpointEvery {
		e := protocol.AuditEntry{
			Seq: last.seq + 1, At: now, Caller: callerHub, From: callerHub, Op: protocol.AuditOpCheckpoint,
			Outcome: protocol.AuditAccepted, Prev: last.hash,
		}.Bounded()
		if err := l.sign(&e); err != nil {
			return err
		}
		add(e)
		uncovered = 0
	}
	l.cfg.Crash.At(PointWrite)
	l.spoilt = true
	if _, err := l.file.Write(buf); err != nil {
		return l.unwritten(err)
	}
	l.cfg.Crash.At(PointWritten)
	if err := l.file.Sync(); err != nil {
		return l.unwritten(err)
	}
	l.cfg.Crash.At(PointSynced)
	l.spoilt = false
	for _, p := range batch {
		l.metrics.entries.WithLabelValues(string(p.entry.Outcome)).Inc()
	}
	l.has.mu.Lock()
	defer l.has.mu.Unlock()
	l.has.segments[len(l.has.segments)-1].size += int64(len(buf))
	l.has.head, l.has.uncovered = last, uncovered
	return nil
}

// unwritten cuts off at once what a failed write left, so that a hub that dies now
// leaves nothing that was refused. If that fails too, it is done before the next write.
func (l *Log) unwritten(err error) error {
	if l.file.Truncate(l.has.current().size) == nil {
		l.spoilt = false
	}
	return l.failed("write", err)
}
