package auditlog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"rackboot/protocol"
)

// Report says what an export holds that fits together, or one log in it.
type Report struct {
	Hub         string    `json:"hub,omitempty"` // whose log it is, of several that share a store
	First       uint64    `json:"first"`         // number of the first entry; greater than 1 if older ones were taken away
	Last        uint64    `json:"last"`
	Hash        string    `json:"hash"` // of the last entry
	Checkpoints int       `json:"checkpoints"`
	ExportedAt  time.Time `json:"exportedAt"`
	// Notes are the entries in which the hub says that the log was torn or broken.
	Notes []protocol.AuditEntry `json:"notes,omitempty"`

	prev string // of the first entry
}

// Verify reads an export of one log to its end and calls each, which may be nil, with each entry
// that fits.
//
// Errors: a *[Finding] names the first entry that does not fit; unavailable if r cannot
// be read; those of each.
func Verify(r io.Reader, keys *Keys, each func(protocol.AuditEntry) error) (Report, error) {
	if each == nil {
		each = func(protocol.AuditEntry) error { return nil }
	}
	lines := newLines(r)
	rep, err := readLog(lines, NewChain(keys), func(e protocol.AuditEntry, _ Known) error { return each(e) })
	if err != nil {
		return Report{}, err
	}
	if err := lines.ended(); err != nil {
		return Report{}, err
	}
	return rep, nil
}

// readLog reads a log up to its end line, and calls each with each entry that fits and with what its signature says besides.
func readLog(lines *lines, chain *Chain, each func(protocol.AuditEntry, Known) error) (Report, error) {
	chain.line = lines.n
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return Report{}, &Finding{Fault: Cut, Line: lines.n + 1, Why: fmt.Sprintf("the file ends after entry %d without the end that the hub signed", chain.Seq)}
		}
		if err != nil {
			return Report{}, lines.failed(err)
		}
		if data := sealedIn(line, endBefore); data != nil {
			return end(lines, chain, data)
		}
		e, wrong := chain.Add(line)
		if wrong != nil {
			return Report{}, lookAhead(lines, chain, wrong, e)
		}
		known := Known{}
		if protocol.AuditOwn(e.Op) {
			known = chain.Known
		}
		if err := each(e, known); err != nil {
			return Report{}, err
		}
	}
}

// end judges the last line of a log.
func end(lines *lines, c *Chain, data []byte) (Report, error) {
	var said End
	no := func(f Fault, seq uint64, format string, args ...any) (Report, error) {
		return Report{}, &Finding{Fault: f, Line: lines.n, Seq: seq, Why: fmt.Sprintf(format, args...)}
	}
	if f, why := c.keys.open(TopicEnd, data, &said); f != "" {
		return no(f, 0, "the end: %s", why)
	}
	switch {
	case c.First.Seq == 0:
		return no(Cut, said.From, "there are no entries; the hub exported %d to %d", said.From, said.Seq)
	case said.From < c.First.Seq:
		return no(Cut, said.From, "%s not there, at the head", run(said.From, c.First.Seq-1))
	case said.Seq > c.Seq:
		return no(Cut, c.Seq+1, "%s not there, at the tail", run(c.Seq+1, said.Seq))
	case said.From != c.First.Seq || said.Prev != c.First.Prev || said.Seq != c.Seq || said.Hash != c.Hash:
		return no(Altered, c.Covered+1, "the hub exported %d to %d with other hashes; what changed stands after entry %d", said.From, said.Seq, c.Covered)
	case said.Hub != "" && c.Known.Hub != "" && said.Hub != c.Known.Hub:
		return no(Altered, c.Covered, "hub %q signed it, and it was exported as the log of hub %q", c.Known.Hub, said.Hub)
	}
	return Report{
		Hub: said.Hub, First: c.First.Seq, Last: c.Seq, Hash: c.Hash, Checkpoints: c.Checkpoints, ExportedAt: said.At,
		Notes: c.Notes, prev: c.First.Prev,
	}, nil
}

// lookAhead tells a missing entry from one that comes later, and a changed one from one
// that was put in front of it. seen is the entry at which wrong was found.
func lookAhead(lines *lines, c *Chain, wrong *Finding, seen protocol.AuditEntry) *Finding {
	again := seen.Seq != 0 && seen.Seq <= c.Seq
	if c.First.Seq == 0 || again || wrong.Fault == Foreign {
		return wrong
	}
	for n := lines.n; ; n = lines.n {
		line, err := lines.next()
		if lines.n == n { // the end, or unreadable
			return wrong
		}
		if err != nil {
			continue
		}
		e, err := protocol.ParseAuditLine(line)
		if err != nil || e.Seq != c.Seq+1 || e.Prev != c.Hash || e.Hash != e.Sum() {
			continue
		}
		if wrong.Fault == Missing {
			wrong.Fault, wrong.Why = Reordered, fmt.Sprintf("entry %d stands here, and entry %d on line %d", seen.Seq, e.Seq, lines.n)
		} else {
			wrong.Fault, wrong.Why = Inserted, fmt.Sprintf("entry %d, which follows entry %d, stands on line %d; this one was put before it", e.Seq, c.Seq, lines.n)
		}
		return wrong
	}
}

// lines reads lines of bounded length.
type lines struct {
	r *bufio.Reader
	n int // lines read
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, protocol.MaxAuditLine+1)} }

var errLine = errors.New("no line of a log")

// next is a line without its end. Errors: EOF after the last, errLine for one without
// an end or that is too long, and those of the reader.
func (l *lines) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	switch {
	case err == nil:
		l.n++
		return line[:len(line)-1], nil
	case errors.Is(err, io.EOF) && len(line) == 0:
		return nil, io.EOF
	case errors.Is(err, io.EOF):
		l.n++
		return nil, fmt.Errorf("it has no end: %w", errLine)
	case !errors.Is(err, bufio.ErrBufferFull):
		return nil, err
	}
	l.n++
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = l.r.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return nil, fmt.Errorf("it is longer than %d bytes: %w", protocol.MaxAuditLine, errLine)
}

// ended reports whether the export ends here.
func (l *lines) ended() error {
	if _, err := l.next(); !errors.Is(err, io.EOF) {
		return &Finding{Fault: Inserted, Line: l.n, Why: "something follows the end that the hub signed"}
	}
	return nil
}

func (l *lines) failed(err error) error {
	if errors.Is(err, errLine) {
		return &Finding{Fault: Altered, Line: l.n, Why: err.Error()}
	}
	return protocol.Errorf(protocol.CodeUnavailable, "read audit log", "after line %d: %w", l.n, err)
}

// messageOf is the text of an error without what was being done.
func messageOf(err error) string {
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return e.Message
	}
	return err.Error()
}
