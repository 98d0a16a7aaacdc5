package trace

import (
	"context"
	"encoding/json"
	"time"

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
	body, err := r.ask(ctx, "trace", message.Ask{Kind: message.AskTrace, Server: server, Serial: serial}, api.TraceWait, "at its host: rackboot-agent trace "+server)
	if err != nil {
		return resource.Trace{}, err
	}
	return trace(body, server)
}

// Read has the agent of a server's rack read its BMC, by a read that begins after the call. It
// waits until ctx ends, at most [api.ReadWait]. The codes are those of Trace.
func (r *Room) Read(ctx context.Context, server string) (resource.ServerRead, error) {
	body, err := r.ask(ctx, "read", message.Ask{Kind: message.AskRead, Server: server}, api.ReadWait, "at its host: rackboot-agent status")
	if err != nil {
		return resource.ServerRead{}, err
	}
	return read(body, server)
}

// ask asks the agent of a server's rack and returns the body of its answer. instead is what to do
// where the agent cannot be asked.
func (r *Room) ask(ctx context.Context, op string, m message.Ask, wait time.Duration, instead string) ([]byte, error) {
	if _, err := store.Get[*resource.Server](r.cfg.Objects, m.Server); err != nil {
		return nil, err
	}
	rack, _ := r.cfg.Objects.RackOf(m.Server) // empty where its BMC is gone
	a := r.cfg.Objects.AgentOf(m.Server)
	if a == nil {
		return nil, protocol.Errorf(protocol.CodeUnavailable, op, "rack %s of server %s has no agent", rack, m.Server).
			WithHint("rackctl rack join-token %s", rack)
	}
	return r.cfg.Link.AskNow(ctx, op, a.Metadata.Name, m, wait, instead)
}

// read reads the body of an answer.
func read(body []byte, server string) (out resource.ServerRead, err error) {
	const op = "read answer"
	if err := json.Unmarshal(body, &out); err != nil {
		return resource.ServerRead{}, protocol.Errorf(protocol.CodeInternal, op, "it cannot be read: %w", err)
	}
	if out.Server != server {
		return resource.ServerRead{}, protocol.Errorf(protocol.CodeInternal, op, "it is of server %.60q", out.Server)
	}
	return out, nil
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
