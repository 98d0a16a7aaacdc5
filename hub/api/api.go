package api

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/protocol/conns"
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
	// headerTimeout, readTimeout, writeTimeout and idleTimeout bound what a connection
	// may take for the headers of a request, all of it, its answer, and between two.
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = time.Minute
	idleTimeout   = 2 * time.Minute
	// maxHeader bounds the headers of a request in bytes.
	maxHeader = 64 << 10
	// maxConns bounds the open connections, maxSourceConns those from one address (IPv6:
	// one /64), behind which a whole site may be.
	maxConns       = 4096
	maxSourceConns = 1024
	// shutdownTimeout is how long Serve waits for open requests at the end.
	shutdownTimeout = 10 * time.Second
)

// Config is what the API needs. Authority, ClientCAs, Limits, Recorder, Logger, Ready,
// AuditLog and Writable may be left out.
type Config struct {
	Store *store.Store
	Rooms Rooms
	// Approver has the approvals of destructive actions; nil has none.
	Approver Approver
	// Token is the admin's bearer token, at least 16 bytes.
	Token string
	// Clients are the other callers.
	Clients []Client
	// ClientCAs are the authorities whose certificates are those of clients alone. Of
	// another one that TLS accepts, such as the hub's, a certificate needs
	// [access.ClientUnit].
	ClientCAs []*x509.Certificate
	// Authority is the certificate of the hub's authority in PEM, for rackctl login.
	Authority []byte
	Limits    Limits
	// Recorder keeps the audit log; nil is none.
	Recorder   Recorder
	Clock      state.Clock
	NewID      func() string // ULIDs
	Registerer prometheus.Registerer
	Logger     *slog.Logger
	Version    string // of the hub, for the OpenAPI document
	// Vault encrypts Secrets; nil if this hub has none.
	Vault Vault
	// Ready says why the hub cannot do its work; nil error when it can. It is asked by
	// whoever asks, and bounds its own cost.
	Ready func(ctx context.Context) error
	// ISOs keeps uploaded files; nil keeps none.
	ISOs ISOs
	// AuditLog is what the routes of the audit log read; nil is none.
	AuditLog AuditLog
	// Writable says why nothing may be changed now; nil error when it may.
	Writable func() error
}

// API is the hub's API as an http.Handler.
type API struct {
	store    *store.Store
	rooms    Rooms
	approver Approver
	callers  []known
	rules    map[string]rule

	clientCAs []*x509.Certificate
	limits    *limiter
	denials   *rate.Limiter // of audit entries of what was denied
	recorder  Recorder

	clock    state.Clock
	newID    func() string
	vault    Vault
	logger   *slog.Logger
	ready    func(ctx context.Context) error
	writable func() error
	mux      *http.ServeMux
	huma     huma.API
	metrics  metrics
	inFlight chan struct{}

	joins, renewals, pulls *throttle
	pieces, isoPulls       *slots
}

// New makes the API; invalid if the Config is incomplete.
func New(cfg Config) (*API, error) {
	const op = "configure api"
	switch {
	case cfg.Store == nil || !cfg.Rooms.complete() || cfg.Clock == nil || cfg.NewID == nil || cfg.Registerer == nil:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "Store, all Rooms, Clock, NewID and Registerer are required")
	case len(cfg.Token) < minToken:
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "the admin token is shorter than %d bytes", minToken).
			WithHint("openssl rand -hex 32 makes one")
	}
	callers, err := knownCallers(cfg)
	if err != nil {
		return nil, err
	}
	a := &API{
		store: cfg.Store, rooms: cfg.Rooms, approver: cfg.Approver, callers: callers, rules: rules(), clientCAs: cfg.ClientCAs,
		limits: newLimiter(cfg.Limits, callers), denials: rate.NewLimiter(deniedPerSecond, deniedBurst), recorder: cfg.Recorder,
		clock: cfg.Clock, newID: cfg.NewID, vault: cfg.Vault, logger: cfg.Logger, ready: cfg.Ready, writable: cfg.Writable,
		mux: http.NewServeMux(), metrics: newMetrics(cfg.Registerer), inFlight: make(chan struct{}, maxInFlight),
	}
	a.joins = newThrottle(cfg.Clock, joinEvery, joinBurst, a.metrics.throttled)
	a.pulls = newThrottle(cfg.Clock, pullEvery, pullBurst, a.metrics.throttled)
	a.pieces, a.isoPulls = newSlots(maxPieces, maxPiecesOfCaller), newSlots(maxISOPulls, maxISOPullsOfAgent)
	a.renewals = newThrottle(cfg.Clock, renewEvery, renewBurst, a.metrics.throttled)
	if a.logger == nil {
		a.logger = slog.New(slog.DiscardHandler)
	}
	a.huma = humago.New(a.mux, huma.Config{
		OpenAPI: &huma.OpenAPI{
			Info: &huma.Info{Title: "Rackboot hub", Version: cfg.Version},
			Components: &huma.Components{SecuritySchemes: map[string]*huma.SecurityScheme{
				"token":       {Type: "http", Scheme: "bearer"},
				"certificate": {Type: "mutualTLS"},
			}},
		},
		Formats:       map[string]huma.Format{"application/json": huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{problemTransformer, etag},
	})
	a.huma.UseMiddleware(a.judge, hurry(a.rules, &cfg.Store.Haste), a.once, a.record)
	a.registerResources()
	a.registerApply()
	a.registerHolds()
	a.registerClaims()
	a.registerAnnotations()
	a.registerFirmware()
	a.registerDiscovery()
	a.registerMaintenances()
	a.registerGroups()
	a.registerTakeover()
	a.registerRequests()
	a.registerApprovals()
	a.registerBMCs()
	a.registerTrace()
	a.registerEnvRender()
	a.registerSecrets()
	a.registerEvents()
	a.registerAudit(cfg.AuditLog)
	a.registerJoin()
	a.registerIgnition()
	a.registerEnvBundle()
	a.registerISOs(cfg.ISOs)
	a.registerEndings()
	a.registerWhoami()
	a.registerHealth()
	a.registerAuthority(cfg.Authority)
	a.registerOpenAPI()
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
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		TLSConfig:         conf,
		ErrorLog:          slog.NewLogLogger(a.logger.Handler(), slog.LevelDebug),
	}
	bounds := conns.Config{Total: maxConns, PerSource: maxSourceConns, Refused: a.metrics.connRefused.Inc}
	if err := conns.ServeTLS(ctx, srv, ln, bounds, shutdownTimeout); err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "serve api", "%w", err)
	}
	return nil
}
