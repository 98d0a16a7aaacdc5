package api

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/state"
)

const (
	// minToken is the least length of the admin token in bytes.
	minToken = 16
	// requestTimeout bounds the work on one request.
	requestTimeout = 20 * time.Second
	// maxInFlight bounds the requests that are worked on at once; more are
	// refused as unavailable.
	maxInFlight = 256
	// shutdownTimeout is how long Serve waits for open requests at the end.
	shutdownTimeout = 10 * time.Second
)

// Fleet is what the API asks of the hub's control: everything that agents know.
type Fleet interface {
	// Decorate fills the status of a resource from reports, for printing.
	Decorate(obj protocol.Object)
	// AcceptBMC makes a BMC that was found an accepted one.
	AcceptBMC(ctx context.Context, name string, r protoapi.AcceptBMC, by string) (*protocol.BMC, error)
	// AcceptServer accepts the board and interfaces that a server shows.
	AcceptServer(ctx context.Context, name string, r protoapi.AcceptServer, by string) (*protocol.Server, error)
	// Firmware marks firmware work on a server, or ends the mark.
	Firmware(ctx context.Context, server string, r protoapi.FirmwareRequest, by string) (*protocol.Server, error)
	// Probe has the rack's agent find out what a BMC can do. It takes minutes.
	Probe(ctx context.Context, bmc, systemURI string) ([]protocol.Probe, error)
	// Join checks the one-time token and admits an agent.
	Join(ctx context.Context, r protoapi.JoinRequest) (protoapi.JoinAnswer, error)
	// NewJoinToken makes a one-time token for a rack.
	NewJoinToken(ctx context.Context, rack string) (protoapi.JoinToken, error)
	// Events returns up to limit events with an index greater than after.
	Events(after uint64, limit int) []protoapi.EventRecord
}

// Config is what the API needs. Logger, Ready and Writable may be nil.
type Config struct {
	Store *store.Store
	Fleet Fleet
	// Token is the admin's bearer token, at least 16 bytes.
	Token string
	// Clients are the other callers.
	Clients    []Client
	Clock      state.Clock
	NewID      func() string // ULIDs
	Registerer prometheus.Registerer
	Logger     *slog.Logger
	Version    string // of the hub, for the OpenAPI document
	// Ready says why the hub cannot serve yet; nil error when it can.
	Ready func() error
	// Writable says why nothing may be changed now; nil error when it may.
	Writable func() error
}

// API is the hub's API as an http.Handler.
type API struct {
	store    *store.Store
	fleet    Fleet
	callers  []known
	clock    state.Clock
	newID    func() string
	logger   *slog.Logger
	ready    func() error
	writable func() error
	mux      *http.ServeMux
	huma     huma.API
	metrics  metrics
	inFlight chan struct{}
}

// New makes the API; invalid if the Config is incomplete.
func New(cfg Config) (*API, error) {
	const op = "configure api"
	switch {
	case cfg.Store == nil || cfg.Fleet == nil || cfg.Clock == nil || cfg.NewID == nil || cfg.Registerer == nil:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "Store, Fleet, Clock, NewID and Registerer are required")
	case len(cfg.Token) < minToken:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the admin token is shorter than %d bytes", minToken).
			WithHint("openssl rand -hex 32 makes one")
	}
	callers, err := knownCallers(cfg)
	if err != nil {
		return nil, err
	}
	a := &API{
		store: cfg.Store, fleet: cfg.Fleet, callers: callers,
		clock: cfg.Clock, newID: cfg.NewID, logger: cfg.Logger, ready: cfg.Ready, writable: cfg.Writable,
		mux: http.NewServeMux(), metrics: newMetrics(cfg.Registerer), inFlight: make(chan struct{}, maxInFlight),
	}
	if a.logger == nil {
		a.logger = slog.New(slog.DiscardHandler)
	}
	a.huma = humago.New(a.mux, huma.Config{
		OpenAPI: &huma.OpenAPI{
			Info: &huma.Info{Title: "Rackboot hub", Version: cfg.Version},
			Components: &huma.Components{SecuritySchemes: map[string]*huma.SecurityScheme{
				"token": {Type: "http", Scheme: "bearer"},
			}},
		},
		Formats:       map[string]huma.Format{"application/json": huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{problemTransformer},
	})
	a.registerResources()
	a.registerApply()
	a.registerHolds()
	a.registerClaims()
	a.registerAnnotations()
	a.registerFirmware()
	a.registerRequests()
	a.registerBMCs()
	a.registerEvents()
	a.registerJoin()
	a.registerHealth()
	if err := a.registerOpenAPI(); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "describe the routes: %w", err)
	}
	a.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeProblem(w, protoapi.ProblemOf(protocol.Errorf(protocol.CodeNotFound, "route", "no %s %s here", r.Method, r.URL.Path).
			WithHint("%s lists the routes", protoapi.PathOpenAPI)))
	})
	return a, nil
}

// Serve serves HTTPS on ln until ctx ends, then waits up to 10 s for open
// requests. It closes ln. The error is nil after an ordinary end.
func (a *API) Serve(ctx context.Context, ln net.Listener, conf *tls.Config) error {
	if conf == nil {
		ln.Close()
		return protocol.Errorf(protocol.CodeInvalid, "serve api", "a TLS configuration is required")
	}
	srv := &http.Server{
		Handler:           a,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		TLSConfig:         conf,
		ErrorLog:          slog.NewLogLogger(a.logger.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.ServeTLS(ln, "", "") }()
	select {
	case err := <-ended:
		return protocol.Errorf(protocol.CodeUnavailable, "serve api", "%w", err)
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	err := srv.Shutdown(end)
	if err != nil {
		err = errors.Join(err, srv.Close())
	}
	<-ended
	return err
}
