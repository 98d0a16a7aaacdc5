package trace

import (
	"context"
	"encoding/json"

	"rackboot/hub/link"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Trace asks the agent of a server's rack what it saw of a power-on; serial 0 is the
// newest. It waits for the answer until ctx ends, at most [api.TraceWait]. The codes are
// not_found, unsupported, unavailable, timeout, and those of the agent's answer.
func (r *Room) Trace(ctx context.Context, server string, serial int) (resource.Trace, error) {
	const op = "trace"
	if _, err := store.Get[*resource.Server](r.cfg.Objects, server); err != nil {
		return resource.Trace{}, err
	}
	rack, _ := r.cfg.Objects.RackOf(server) // empty where its BMC is gone
	a := r.cfg.Objects.AgentOf(server)
	fail := func(code protocol.Code, format string, args ...any) *protocol.Error {
		return protocol.Errorf(code, op, format, args...)
	}
	switch {
	case a == nil:
		return resource.Trace{}, fail(protocol.CodeUnavailable, "rack %s of server %s has no agent", rack, server).
			WithHint("rackctl rack join-token %s", rack)
	case r.cfg.Link.CannotAsk(a.Metadata.Name):
		return resource.Trace{}, fail(protocol.CodeUnsupported, "agent %s is of a version that answers no questions", a.Metadata.Name).
			WithHint("upgrade it")
	case !r.cfg.Link.Hears(a.Metadata.Name):
		return resource.Trace{}, fail(protocol.CodeUnavailable, "agent %s has not greeted the hub", a.Metadata.Name).
			WithHint("at its host: rackboot-agent trace %s", server)
	}
	m := message.Ask{Kind: message.AskTrace, Server: server, Serial: serial, NotAfter: r.cfg.Clock().Add(api.TraceWait)}
	answered := make(chan message.Answer, 1)
	q, err := r.cfg.Link.Ask(a.Metadata.Name, m, func(a message.Answer) { answered <- a })
	if err != nil {
		return resource.Trace{}, err
	}
	select {
	case m := <-answered:
		if err := link.AnswerError(op, m); err != nil {
			return resource.Trace{}, err
		}
		return trace(m.Body, server)
	case <-ctx.Done():
		r.cfg.Link.DropAsk(q, a.Metadata.Name)
		return resource.Trace{}, fail(protocol.CodeTimeout, "agent %s had not answered when the caller stopped waiting", a.Metadata.Name).
			WithHint("try again; at its host: rackboot-agent trace %s", server)
	}
}

// trace reads the body of an answer.
func trace(body []byte, server string) (out resource.Trace, err error) {
	const op = "read answer"
	if err := json.Unmarshal(body, &out); err != nil {
		return resource.Trace{}, protocol.Errorf(protocol.CodeInternal, op, "it cannot be read: %w", err)
	}
	if out.Server != server || len(out.Rows) > resource.MaxTraceRows {
		return resource.Trace{}, protocol.Errorf(protocol.CodeInternal, op, "it is of server %.60q, with %d rows", out.Server, len(out.Rows))
	}
	return out, nil
}
