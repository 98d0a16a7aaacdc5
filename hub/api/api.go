package api

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"

	"rackboot/hub/api/gate"
	"rackboot/hub/api/route"
	"rackboot/hub/bulk"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

// API is the hub's API as an http.Handler: the routes of all nouns, behind one gate. It is safe for
// concurrent use.
type API struct {
	gate *gate.Gate
	bulk *bulk.Room
}

// New makes the API; invalid if the Config is incomplete.
func New(cfg Config) (*API, error) {
	if cfg.Store == nil || !cfg.Rooms.complete() || cfg.Clock == nil || cfg.NewID == nil || cfg.Registerer == nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "configure api", "Store, all Rooms, Clock, NewID and Registerer are required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	table := route.NewTable(cfg.Version)
	g, err := gate.New(gate.Config{
		Table: table, Store: cfg.Store, Token: cfg.Token, Callers: cfg.Callers, Limits: cfg.Limits,
		Recorder: cfg.Recorder, Clock: cfg.Clock, Registerer: cfg.Registerer, Logger: cfg.Logger, Writable: cfg.Writable,
	})
	if err != nil {
		return nil, err
	}
	working := bulk.New(bulk.Config{
		Bulks: cfg.Store.Requests.Bulks, Requests: cfg.Store.Requests, Asker: g, Clock: cfg.Clock, Registerer: cfg.Registerer, Logger: cfg.Logger, Idle: cfg.Idle, Under: cfg.Under,
	})
	fill(table, cfg, g, working)
	return &API{g, working}, nil
}

// fill gives a table the routes of all nouns, their document, and an answer to all other paths.
func fill(t *route.Table, cfg Config, g callers, working *bulk.Room) {
	for _, n := range nouns(cfg, g, working) {
		n.routes(t)
	}
	t.HandleDocument()
	t.Handle("/", func(w http.ResponseWriter, r *http.Request) {
		route.WriteProblem(w, protoapi.ProblemOf(protocol.Errorf(protocol.CodeNotFound, "route", "no %s %s here", r.Method, r.URL.Path).
			WithHint("%s lists the routes", protoapi.PathOpenAPI)))
	})
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.gate.ServeHTTP(w, r) }

// Serve serves HTTPS on ln until ctx ends, then waits up to 10 s for open
// requests. It closes ln. The error is nil after an ordinary end.
func (a *API) Serve(ctx context.Context, ln net.Listener, conf *tls.Config) error {
	return a.gate.Serve(ctx, ln, conf)
}

// ServeBehind is [API.Serve] with a handler before the API, which passes on what is not its own.
func (a *API) ServeBehind(ctx context.Context, ln net.Listener, conf *tls.Config, front http.Handler) error {
	return a.gate.ServeBehind(ctx, ln, conf, front)
}

// Work works off bulk operations until ctx ends, while this hub is the one that does so; see Config.Idle.
func (a *API) Work(ctx context.Context) error { return a.bulk.Run(ctx) }

// Gate returns what other listeners of the hub ask who calls.
func (a *API) Gate() *gate.Gate { return a.gate }
