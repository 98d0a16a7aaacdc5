package audit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"rackboot/protocol"
	"rackboot/protocol/auditlog"
)

// load finds the end of the log and says with what its next segment begins, if the
// newest cannot be gone on with.
func (l *Log) load() error {
	if err := l.sweep(); err != nil {
		return err
	}
	var err error
	if l.has.segments, err = l.list(); err != nil {
		return err
	}
	if len(l.has.segments) == 0 {
		l.due = &beginning{op: protocol.AuditOpSegment, detail: "the log begins"}
		return nil
	}
	newest := l.has.current()
	res, err := l.scan(newest)
	if err != nil {
		return l.failed("read "+newest.name(), err)
	}
	l.has.head = head{res.chain.Seq, res.chain.Hash}
	was := res.chain.Known
	l.others = was.Others
	switch {
	case res.wrong != nil:
		l.note(newest, res.wrong)
		// All of it stays. Numbers go on after its lines, whatever those say.
		seq := newest.first + uint64(max(res.lines, 1))
		l.due = &beginning{op: protocol.AuditOpBreak, target: target(newest), detail: res.wrong.Error(), seq: seq, prev: l.has.head.hash}
		if l.has.head.seq == 0 { // not even its first line
			l.has.head.seq = seq - 1
		}
		return nil
	case res.torn > 0:
		l.log.Warn("audit log ends in an incomplete line, after a crash", "segment", newest.name(), "bytes", res.torn)
		l.due = &beginning{op: protocol.AuditOpTorn, target: target(newest), detail: fmt.Sprintf("%d bytes of an incomplete line follow entry %d; they stay in the file", res.torn, l.has.head.seq)}
		return nil
	}
	l.has.uncovered = int(res.chain.Seq - res.chain.Covered)
	l.file, err = os.OpenFile(l.path(newest.name()), os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return l.failed("open "+newest.name(), err)
	}
	if was.Hub != "" && l.cfg.Hub != "" && was.Hub != l.cfg.Hub {
		l.due = &beginning{op: protocol.AuditOpSegment, detail: fmt.Sprintf("the hub was named %s", was.Hub)}
	}
	return nil
}

func target(s segment) string { return "AuditSegment/" + s.name() }

// scanned is what was found in a segment.
type scanned struct {
	chain *auditlog.Chain
	wrong *auditlog.Finding
	lines int   // complete ones
	torn  int64 // bytes after the last complete line
}

// scan reads a segment. The file is read to its end, also after what does not fit.
func (l *Log) scan(s segment) (scanned, error) {
	res := scanned{chain: auditlog.NewChain(l.keys)}
	f, err := os.Open(l.path(s.name()))
	if err != nil {
		return res, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, protocol.MaxAuditLine+1)
	long := false // within a line that is longer than any of ours
	for {
		line, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			if res.torn = int64(len(line)); long {
				res.wrong = firstOf(res.wrong, &auditlog.Finding{Fault: auditlog.Altered, Line: res.lines + 1, Why: "the line is too long"})
			}
			if res.lines == 0 { // a segment appears with its first line
				res.wrong = firstOf(res.wrong, &auditlog.Finding{Fault: auditlog.Cut, Line: 1, Why: "there is no first line"})
			}
			return res, nil
		case errors.Is(err, bufio.ErrBufferFull):
			long = true
			continue
		case err != nil:
			return res, err
		}
		res.lines++
		if res.wrong != nil {
			continue
		}
		if long {
			res.wrong = &auditlog.Finding{Fault: auditlog.Altered, Line: res.lines, Why: "the line is too long"}
			continue
		}
		e, wrong := res.chain.Add(line[:len(line)-1])
		if wrong == nil && res.lines == 1 && e.Seq != s.first {
			wrong = &auditlog.Finding{Fault: auditlog.Altered, Line: 1, Seq: s.first, Why: fmt.Sprintf("the file begins with entry %d", e.Seq)}
			res.chain = auditlog.NewChain(l.keys)
		}
		res.wrong = wrong
	}
}

func firstOf(a, b *auditlog.Finding) *auditlog.Finding {
	if a != nil {
		return a
	}
	return b
}

// note tells that a segment does not fit together.
func (l *Log) note(s segment, wrong *auditlog.Finding) {
	l.log.Error("audit log is broken", "segment", s.name(), "finding", wrong.Error(),
		"hint", "keep the file and compare it with your last export: rackctl audit verify FILE --against OLD")
	l.has.mu.Lock()
	defer l.has.mu.Unlock()
	l.has.broken[s.name()] = wrong.Error()
}
