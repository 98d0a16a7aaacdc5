package bootspan

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// Span is one of OpenTelemetry's, of kind internal.
type Span struct {
	Trace      [16]byte
	ID, Parent [8]byte // Parent is zero of the root
	Name       string
	Start, End time.Time // End is never before Start
	Attributes []Attribute
	Events     []Event
	// Failed is the status. Message is why, for people.
	Failed  bool
	Message string
}

// Attribute is a key with a value: Text, or Number where Text is empty.
type Attribute struct {
	Key, Text string
	Number    int64
}

// Event is what was seen during a span.
type Event struct {
	At         time.Time
	Name       string
	Attributes []Attribute
}

// The names of the spans that are no stage.
const (
	// NameBoot is the root: from the beginning of the attempt to its outcome.
	NameBoot = "boot"
	// NameLate is what followed when an attempt that had been given up turned out well after all, or was gone on with.
	NameLate = "boot, late"
)

// succeeded is the outcome without a code.
const succeeded = string(resource.AttemptSucceeded)

// Spans returns the spans of the attempt's last ending: each ending has its own, so that nothing is sent twice. The
// stages of the first ending lie below the root; those of a later one below a span of their own, which lies below the
// root. It returns nil where the course does not end.
//
//	course                                                | spans
//	Preparing Armed Failed                                | boot(Preparing Armed)
//	Preparing Armed PowerRequested Consumed Succeeded     | boot(Preparing Armed PowerRequested Consumed)
//	… Failed Succeeded                                    | boot, late()
//	… Failed PowerRequested Consumed Succeeded            | boot, late(PowerRequested Consumed)
func Spans(b Boot) []Span {
	n := len(b.Course)
	if n < 2 || !ends(b.Course[n-1].State) {
		return nil
	}
	from, earlier := 0, 0
	for i, p := range b.Course[:n-1] {
		if ends(p.State) {
			from, earlier = i, earlier+1
		}
	}
	part := b.Course[from:]
	whole := b.span(NameBoot, 0, part[0].At, part[len(part)-1].At)
	if earlier > 0 {
		whole = b.span(NameLate, earlier, part[0].At, part[len(part)-1].At)
		whole.Parent = b.id(NameBoot, 0)
		part = part[1:]
	}
	whole.Attributes = append(whole.Attributes, b.about()...)
	b.judge(&whole)
	out := []Span{whole}
	for i := range len(part) - 1 {
		s := b.span(string(part[i].State), from+i, part[i].At, part[i+1].At)
		s.Parent = whole.ID
		if i == len(part)-2 {
			b.judge(&s)
		}
		out = append(out, s)
	}
	b.lay(out)
	return out
}

func ends(s resource.AttemptState) bool {
	return s == resource.AttemptSucceeded || s == resource.AttemptFailed
}

// span makes one. at tells it from another of the same name.
func (b Boot) span(name string, at int, start, end time.Time) Span {
	s := Span{ID: b.id(name, at), Name: name, Start: start, End: end, Attributes: []Attribute{{Key: "rackboot.server", Text: b.Server}}}
	if end.Before(start) { // the host's clock was set back
		s.End = start
	}
	_, _ = hex.Decode(s.Trace[:], []byte(protocol.BootTraceID(b.Server, b.Attempt)))
	return s
}

// id is the ID of a span: the same facts give the same.
func (b Boot) id(name string, at int) (id [8]byte) {
	sum := sha256.Sum256([]byte(protocol.BootTraceID(b.Server, b.Attempt) + "\n" + name + "\n" + strconv.Itoa(at)))
	copy(id[:], sum[:])
	return id
}

// judge gives a span the outcome of the attempt. error.type is OpenTelemetry's.
func (b Boot) judge(s *Span) {
	outcome := succeeded
	if b.last().State == resource.AttemptFailed {
		outcome = string(b.Code)
		if outcome == "" {
			outcome = string(resource.AttemptOutcomeUnknown)
		}
		s.Failed, s.Message = true, b.Reason
		s.Attributes = append(s.Attributes, Attribute{Key: "error.type", Text: outcome})
	}
	s.Attributes = append(s.Attributes, Attribute{Key: "rackboot.outcome", Text: outcome})
}

func (b Boot) last() decide.Passage { return b.Course[len(b.Course)-1] }

// about is what is known of the whole attempt. What is not known is left out.
func (b Boot) about() (out []Attribute) {
	for _, a := range []Attribute{
		{Key: "rackboot.rack", Text: b.Rack},
		{Key: "rackboot.attempt.id", Text: b.Attempt},
		{Key: "rackboot.attempt.number", Number: int64(b.Number)},
		{Key: "rackboot.owner.kind", Text: string(b.Owner.Kind)},
		{Key: "rackboot.owner.name", Text: b.Owner.Name},
		{Key: "rackboot.owner.uid", Text: b.Owner.UID},
		{Key: "rackboot.owner.generation", Number: int64(b.Generation)}, //nolint:gosec // generations are counted from 1
		{Key: "rackboot.boot.method", Text: string(b.Intended)},
		{Key: "rackboot.boot.method.observed", Text: string(b.Observed)},
		{Key: "rackboot.boot.restart", Text: restarted(b.Restart)},
		{Key: "rackboot.image.digest", Text: b.Digest},
		{Key: "rackboot.bootenv", Text: b.BootEnv},
		{Key: "rackboot.evidence", Text: string(b.Evidence)},
		{Key: "rackboot.evidence.class", Text: string(b.Class)},
	} {
		if a.Text != "" || a.Number != 0 {
			out = append(out, a)
		}
	}
	return out
}

func restarted(is bool) string {
	if is {
		return "true"
	}
	return ""
}

// lay gives each row to the stage in which it was seen; where there is no stage, to the whole. What was seen before the
// first belongs to it, and what was seen after the last to that. Rows of an earlier ending are left out.
func (b Boot) lay(spans []Span) {
	whole, stages := &spans[0], spans[1:]
	for _, r := range b.Rows {
		if whole.Name == NameLate && r.At.Before(whole.Start) {
			continue
		}
		to := whole
		for i := range stages {
			if i == 0 || !r.At.Before(stages[i].Start) {
				to = &stages[i]
			}
		}
		to.Events = append(to.Events, event(r))
	}
}

// event is what a row says.
func event(r resource.TraceRow) Event {
	e := Event{At: r.At, Name: string(r.Source), Attributes: []Attribute{{Key: "rackboot.what", Text: r.What}}}
	if r.Source == protocol.TraceGap {
		e.Attributes = append(e.Attributes, Attribute{Key: "rackboot.dropped", Number: int64(r.Dropped)})
	}
	if r.Detail != "" {
		e.Attributes = append(e.Attributes, Attribute{Key: "rackboot.detail", Text: r.Detail})
	}
	return e
}
