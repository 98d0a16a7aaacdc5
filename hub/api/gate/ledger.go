package gate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/resource"
	"rackboot/state"
)

const (
	// recordTimeout bounds the write of the entry that says how an action ended.
	recordTimeout = 5 * time.Second
	// maxTarget bounds a target in an entry in bytes.
	maxTarget = 256
	// deniedPerSecond and deniedBurst bound the entries of what was denied: anybody who
	// reaches the hub can have them written.
	deniedPerSecond = 1
	deniedBurst     = 60
)

// Recorder keeps the audit log. An entry is durable when Append returns; what it returns
// is the entry as it is kept. It is used concurrently.
type Recorder interface {
	Append(ctx context.Context, e protocol.AuditEntry) (protocol.AuditEntry, error)
}

// ledger writes the audit log.
type ledger struct {
	recorder   Recorder // nil keeps no log
	clock      state.Clock
	denials    *rate.Limiter // of entries of what was denied
	unrecorded prometheus.Counter
	logger     *slog.Logger
}

func newLedger(to Recorder, clock state.Clock, unrecorded prometheus.Counter, logger *slog.Logger) *ledger {
	return &ledger{recorder: to, clock: clock, denials: rate.NewLimiter(deniedPerSecond, deniedBurst), unrecorded: unrecorded, logger: logger}
}

// record notes each action that may change something, or whose rule says so, before it is begun, and how it
// ended. What cannot be noted is not begun.
func record(table *route.Table, in *ledger) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(ctx)
		rule := table.Rule(ctx.Operation().OperationID)
		if in.recorder == nil || !mutates(r) && !rule.Read || rule.Part {
			next(ctx)
			return
		}
		answer := w.(*recorder)
		e := entryOf(r, ctx.Operation(), rule)
		if err := in.recorded(r.Context(), e, func() (protocol.AuditOutcome, protocol.Code, string) {
			next(ctx)
			return ended(answer)
		}); err != nil {
			answer.untouched = true
			route.WriteProblem(w, protoapi.ProblemOf(err))
		}
	}
}

// recorded is [Gate.Recorded].
func (l *ledger) recorded(ctx context.Context, e protocol.AuditEntry, do func() (protocol.AuditOutcome, protocol.Code, string)) error {
	if l.recorder == nil {
		do()
		return nil
	}
	e.At, e.Outcome = l.clock().UTC(), protocol.AuditAsked
	if _, err := l.recorder.Append(ctx, e); err != nil {
		l.logger.Error("audit entry not written", "op", e.Op, "target", e.Target, "err", err)
		return protocol.Errorf(protocol.CodeUnavailable, "record", "the audit log cannot be written").
			WithHint("nothing was done; see the hub's log, and check its disk")
	}
	e.Outcome, e.Code = protocol.AuditFailed, protocol.CodeInternal
	defer func() { // also after a panic, which is answered further up
		e.At = l.clock().UTC()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
		defer cancel()
		if _, err := l.recorder.Append(end, e); err != nil {
			l.logger.Error("audit entry of an outcome not written", "op", e.Op, "target", e.Target, "outcome", e.Outcome, "err", err)
			l.unrecorded.Inc()
		}
	}()
	e.Outcome, e.Code, e.Detail = do()
	return nil
}

// denied is [Gate.Denied].
func (l *ledger) denied(r *http.Request, e protocol.AuditEntry, err error) {
	if l.recorder == nil {
		return
	}
	if !l.denials.Allow() {
		l.unrecorded.Inc()
		return
	}
	e.At, e.Outcome, e.Code, e.Detail = l.clock().UTC(), protocol.AuditRefused, protocol.CodeOf(err), short(err.Error(), protocol.MaxAuditDetail)
	if _, err := l.recorder.Append(r.Context(), e); err != nil {
		l.unrecorded.Inc()
		l.logger.Error("audit entry of a refusal not written", "op", e.Op, "target", e.Target, "err", err)
	}
}

// ended says how an action ended by what was answered.
func ended(w *recorder) (protocol.AuditOutcome, protocol.Code, string) {
	if w.status >= 200 && w.status < 300 {
		return protocol.AuditAccepted, "", ""
	}
	outcome := protocol.AuditFailed
	if w.status >= 400 && w.status < 500 {
		outcome = protocol.AuditRefused
	}
	var p protoapi.Problem
	if json.Unmarshal(w.kept, &p) != nil || p.Code == "" {
		p.Code = protocol.CodeInternal
	}
	return outcome, p.Code, short(p.Detail, protocol.MaxAuditDetail)
}

// entryOf says who asks for what, without its outcome.
func entryOf(r *http.Request, op *huma.Operation, rule route.Rule) protocol.AuditEntry {
	who := route.Caller(r.Context())
	e := protocol.AuditEntry{Caller: who.Name, Issuer: who.Issuer, Subject: who.Subject, From: remoteHost(r), Op: cmp.Or(rule.Noted, string(rule.Right)), Reason: reasonOf(r)}
	if e.Op == "" && op != nil {
		e.Op = op.OperationID
	}
	for _, role := range who.Roles {
		e.Roles = append(e.Roles, string(role))
	}
	switch {
	case rule.ISO:
		e.Target = isoTarget(r)
	case rule.Packed:
		e.Target = short("AgentPackage/"+r.PathValue("digest"), maxTarget)
	case rule.Kind != "":
		e.Target = short(string(rule.Kind)+"/"+nameOf(r), maxTarget)
	case rule.Right == access.Apply, rule.Right == access.Secret:
		e.Target = applied(rawBody(r))
	}
	return e
}

// isoTarget names the uploaded file that a request is about, or the upload where it does
// not say the file.
func isoTarget(r *http.Request) string {
	var b struct {
		File string `json:"file"`
	}
	_ = json.Unmarshal(rawBody(r), &b) // one that cannot be read is refused by its handler
	switch {
	case b.File != "":
		return short("ISO/"+b.File, maxTarget)
	case r.PathValue("name") != "":
		return short("ISO/"+r.PathValue("name"), maxTarget)
	}
	return short("upload/"+r.PathValue("id"), maxTarget)
}

// remoteHost is the address at the other end of the connection.
func remoteHost(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return short(r.RemoteAddr, maxTarget)
	}
	return host
}

// reasonOf is the reason that a request gives for itself.
func reasonOf(r *http.Request) string {
	if q := r.URL.Query().Get(protoapi.QueryReleaseHolds); q != "" {
		return short(q, protoapi.MaxReason)
	}
	var b struct {
		Reason     string `json:"reason"`
		BreakGlass string `json:"breakGlass"`
		// FirstHostOff is what a failover rests on.
		FirstHostOff bool `json:"firstHostOff"`
	}
	_ = json.Unmarshal(rawBody(r), &b) // one that cannot be read is refused by its handler
	if b.BreakGlass != "" {
		return short(b.BreakGlass, protoapi.MaxReason)
	}
	if b.FirstHostOff {
		b.Reason = "states that the first host is off: " + b.Reason
	}
	return short(b.Reason, protoapi.MaxReason)
}

// applied names what a body would write: the resource, or how many and the first.
func applied(raw []byte) string {
	type head struct {
		Kind     resource.Kind `json:"kind"`
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	var b struct {
		head
		Objects []head `json:"objects"`
	}
	_ = json.Unmarshal(raw, &b) // one that cannot be read is refused by its handler
	if len(b.Objects) == 0 {
		b.Objects = []head{b.head}
	}
	name := short(string(b.Objects[0].Kind)+"/"+b.Objects[0].Metadata.Name, maxTarget)
	if n := len(b.Objects); n > 1 {
		name = fmt.Sprintf("%s and %d more", name, n-1)
	}
	return name
}

// short cuts a text at a number of bytes.
func short(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}
