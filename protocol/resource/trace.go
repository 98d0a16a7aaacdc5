package resource

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"rackboot/protocol"
)

// The bounds of one trace. How a boot begins and how it ends says most: of too many
// rows, the oldest after the first MaxTraceHead are dropped.
const (
	MaxTraceRows  = 160
	MaxTraceHead  = 48
	MaxTraceBytes = 32 << 10 // of rows, each counted with its fixed fields
	maxTraceWhat  = 48
	// maxTraceDetail keeps MaxTraceHead rows below MaxTraceBytes.
	maxTraceDetail = 320
	traceRowBytes  = 96 // of a row's fixed fields, in JSON
)

// TraceRow is one thing that was seen. It has no token and no secret.
type TraceRow struct {
	// Seq counts the rows of the trace from 1. A gap has that of the last row that was
	// dropped.
	Seq    int                  `json:"seq"`
	At     time.Time            `json:"at"` // agent clock
	Source protocol.TraceSource `json:"source"`
	What   string               `json:"what"`
	Detail string               `json:"detail,omitempty"`
	// Dropped is how many rows were where a gap is now.
	Dropped int `json:"dropped,omitempty"`
}

func (r TraceRow) size() int { return traceRowBytes + len(r.What) + len(r.Detail) }

// Trace is what was seen of one power-on, in the order in which the agent saw it.
// Nothing is decided by it, and rows may be missing: they are kept as far as it costs
// nothing.
type Trace struct {
	Server string `json:"server"`
	// Serial counts the attempts of the server that were traced, from 1.
	Serial  int    `json:"serial"`
	Attempt string `json:"attempt"` // its id
	// TraceID is under which OpenTelemetry and logs have the attempt: 32 hex digits, see [protocol.BootTraceID].
	TraceID  string              `json:"traceID,omitempty"`
	Number   int                 `json:"number"` // see AttemptReport
	Purpose  Purpose             `json:"purpose"`
	Intended protocol.BootTarget `json:"intended"`
	Observed protocol.BootTarget `json:"observed,omitempty"`
	Began    time.Time           `json:"began"`
	// State is how far it has come, and Since when.
	State  AttemptState `json:"state"`
	Since  time.Time    `json:"since"`
	Code   AttemptCode  `json:"code,omitempty"`
	Reason string       `json:"reason,omitempty"`
	Rows   []TraceRow   `json:"rows,omitempty"`
	// Kept are the serials of the attempts that the agent still has, in order.
	Kept []int `json:"kept,omitempty"`
}

// Ended says whether nothing more is done for the attempt. What comes late may be
// added all the same.
func (t *Trace) Ended() bool {
	return t.State == AttemptSucceeded || t.State == AttemptFailed
}

// Last is the number of the last row; 0 is none.
func (t *Trace) Last() int {
	if n := len(t.Rows); n > 0 {
		return t.Rows[n-1].Seq
	}
	return 0
}

// Add appends a row and gives it its number. Text is cut and made printable. Where it
// becomes too much, the oldest rows of the middle are dropped for a gap.
func (t *Trace) Add(r TraceRow) {
	r.Seq, r.Dropped = t.Last()+1, 0
	r.What, r.Detail = traceText(r.What, maxTraceWhat), traceText(r.Detail, maxTraceDetail)
	t.Rows = append(t.Rows, r)
	for len(t.Rows) > MaxTraceRows || t.bytes() > MaxTraceBytes {
		t.dropOne()
	}
}

func (t *Trace) bytes() (n int) {
	for _, r := range t.Rows {
		n += r.size()
	}
	return n
}

// dropOne makes the oldest row after the head part of the gap, which takes the place of
// the first.
func (t *Trace) dropOne() {
	const gap = MaxTraceHead
	first := t.Rows[gap]
	if first.Source != protocol.TraceGap {
		t.Rows[gap] = TraceRow{Seq: first.Seq, At: first.At, Source: protocol.TraceGap, What: "rows dropped", Dropped: 1}
		if len(t.Rows) <= MaxTraceRows && t.bytes() <= MaxTraceBytes {
			return
		}
	}
	gone := t.Rows[gap+1]
	t.Rows[gap].Dropped++
	t.Rows[gap].Seq = gone.Seq
	t.Rows = append(t.Rows[:gap+1], t.Rows[gap+2:]...)
}

// traceText is text of at most n bytes that a terminal prints as it is, in one line.
func traceText(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	if len(s) <= n {
		return s
	}
	const more = "…"
	n -= len(more)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + more
}
