package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/debug"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// Inside answers a request that the hub sends itself for a caller: judged, recorded and handled as one that comes
// from outside. It takes no place and counts towards no limit: who calls bounds how many there are. from is where it comes from
// in the audit log. The error is the refusal, a [protoapi.Problem].
func (g *Gate) Inside(ctx context.Context, who access.Caller, from, path string, body []byte) error {
	ctx, cancel := context.WithTimeout(route.WithCaller(ctx, who), requestTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, path, &replay{bytes.NewReader(body), body})
	if err != nil {
		return protoapi.ProblemOf(protocol.Errorf(protocol.CodeInvalid, "ask", "%w", err))
	}
	r.Header.Set("Content-Type", "application/json")
	r.RemoteAddr = from
	if err := g.changes(r); err != nil {
		return protoapi.ProblemOf(err)
	}
	rec := &recorder{ResponseWriter: nowhere{}, keep: maxKept}
	g.handle(rec, r)
	if rec.status >= 200 && rec.status < 300 {
		return nil
	}
	var p protoapi.Problem
	if json.Unmarshal(rec.kept, &p) != nil || p.Code == "" {
		return protoapi.ProblemOf(protocol.Errorf(protocol.CodeInternal, "ask", "the hub failed").WithHint("see the hub's log"))
	}
	return &p
}

// handle has the table answer, and survives a panic: its recorder has no success then.
func (g *Gate) handle(rec *recorder, r *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			rec.status, rec.kept = http.StatusInternalServerError, nil
			g.logger.Error("api handler panicked", "route", r.Pattern, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	g.table.ServeHTTP(rec, r)
}

// Client returns a client of the hub's file, or the admin, as they are now.
func (g *Gate) Client(name string) (access.Caller, bool) {
	for _, k := range g.callers.Load().known {
		if k.Name == name {
			return k.Caller, true
		}
	}
	return access.Caller{}, false
}

// nowhere is where answers go that only their recorder keeps.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (nowhere) WriteHeader(int)             {}
