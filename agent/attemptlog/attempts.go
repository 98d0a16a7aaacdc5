package attemptlog

import (
	"context"
	"log/slog"
	"sync"

	"rackboot/protocol"
	"rackboot/protocol/decide"
)

// The keys of the fields.
const (
	keyServer  = "server"
	keyAttempt = "attempt"
	keyTrace   = "trace_id"
)

// Attempts are those that are under way, by server. It is safe for concurrent use.
type Attempts struct {
	mu sync.RWMutex
	by map[string]string // their ids
}

// New makes one without any.
func New() *Attempts { return &Attempts{by: map[string]string{}} }

// Follow takes over what a step made of a server's attempt. One that it has ended counts until the next step: what is
// done and said because of the step is about it.
func (a *Attempts) Follow(server string, was, is *decide.Attempt) {
	id := ""
	if is.Open() || was.Open() && is != nil && is.ID == was.ID {
		id = is.ID
	}
	if a.of(server) == id {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if id == "" {
		delete(a.by, server)
	} else {
		a.by[server] = id
	}
}

// of is the id of the attempt that is under way at a server; empty without one.
func (a *Attempts) of(server string) string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.by[server]
}

// Handler returns one that adds the fields attempt and trace_id to lines with the field server, and hands them to h.
func (a *Attempts) Handler(h slog.Handler) slog.Handler { return handler{Handler: h, attempts: a} }

type handler struct {
	slog.Handler
	attempts *Attempts
	server   string // of the logger; empty without one
	grouped  bool   // fields that are added are in a group
}

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if h.grouped {
		return h.Handler.Handle(ctx, r)
	}
	server := h.server
	r.Attrs(func(at slog.Attr) bool {
		if at.Key == keyServer {
			server = at.Value.String()
		}
		return true
	})
	if id := h.attempts.of(server); id != "" {
		r = r.Clone()
		r.AddAttrs(slog.String(keyAttempt, id), slog.String(keyTrace, protocol.BootTraceID(server, id)))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, at := range attrs {
		if at.Key == keyServer && !h.grouped {
			h.server = at.Value.String()
		}
	}
	h.Handler = h.Handler.WithAttrs(attrs)
	return h
}

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) slog.Handler {
	h.Handler, h.grouped = h.Handler.WithGroup(name), h.grouped || name != ""
	return h
}
