package mirrors

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

// Config is what a Room is made of.
type Config struct {
	Objects *store.Objects
	Link    *link.Room
}

// Room keeps nothing. It is safe for concurrent use.
type Room struct{ cfg Config }

// New makes a Room.
func New(cfg Config) *Room { return &Room{cfg: cfg} }

// Mirror asks the agent of a rack what it has of package repositories. It waits for the answer
// until ctx ends, at most [api.MirrorWait]. The codes are not_found, unsupported, unavailable,
// timeout, and those of the agent's answer.
func (r *Room) Mirror(ctx context.Context, rack string) (resource.MirrorStatus, error) {
	agent, body, err := r.ask(ctx, "read mirror", rack, message.Ask{Kind: message.AskMirror}, "at its host: rackboot-agent mirror")
	if err != nil {
		return resource.MirrorStatus{}, err
	}
	out, err := status(body)
	out.Rack, out.Agent = rack, agent
	return out, err
}

// Flush has the agent of a rack forget what it has cached of package repositories. It waits as
// Mirror does, with the same codes, and conflict where a repository does not answer. After a
// timeout nobody knows whether it was done; it may be asked for again.
func (r *Room) Flush(ctx context.Context, rack string, q api.FlushRequest) (resource.MirrorFlushed, error) {
	ask := message.Ask{Kind: message.AskFlush, What: q.What, Force: q.Force}
	agent, body, err := r.ask(ctx, "flush mirror", rack, ask, "what was dropped is dropped; at its host: rackboot-agent mirror-flush")
	if err != nil {
		return resource.MirrorFlushed{}, err
	}
	out, err := flushed(body)
	out.Rack, out.Agent = rack, agent
	return out, err
}

func (r *Room) ask(ctx context.Context, op, rack string, m message.Ask, instead string) (agent string, body []byte, err error) {
	obj, err := store.Get[*resource.Rack](r.cfg.Objects, rack)
	switch {
	case err != nil:
		return "", nil, err
	case obj.Status.Agent == "":
		return "", nil, protocol.Errorf(protocol.CodeUnavailable, op, "rack %s has no agent", rack).WithHint("rackctl rack join-token %s", rack)
	}
	agent = obj.Status.Agent
	body, err = r.cfg.Link.AskNow(ctx, op, agent, m, api.MirrorWait, instead)
	return agent, body, err
}

// status reads the body of an answer.
func status(body []byte) (out resource.MirrorStatus, err error) {
	const op = "read answer"
	if len(body) > resource.MaxMirrorStatus {
		return out, protocol.Errorf(protocol.CodeInternal, op, "it has %d bytes", len(body))
	}
	if err := json.Unmarshal(body, &out); err != nil {
		return resource.MirrorStatus{}, protocol.Errorf(protocol.CodeInternal, op, "it cannot be read: %w", err)
	}
	for i := range out.Repositories {
		out.Repositories[i].Why = resource.MirrorWhy(out.Repositories[i].Why)
	}
	return out, nil
}

// flushed reads the body of an answer.
func flushed(body []byte) (out resource.MirrorFlushed, err error) {
	if err := json.Unmarshal(body, &out); err != nil {
		return resource.MirrorFlushed{}, protocol.Errorf(protocol.CodeInternal, "read answer", "it cannot be read: %w", err)
	}
	return out, nil
}
