package local

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// Reader shows what the agent knows.
type Reader interface {
	Status() (Status, error)
	// Servers are those that the agent has heard of, by name.
	Servers() []Summary
	// Server has the code not_found for any other. Explain is filled by the caller.
	Server(name string) (Server, error)
	Holds() ([]Hold, error)
	// Trace is what was seen of a power-on of a server; serial 0 is the newest.
	Trace(server string, serial int) (resource.Trace, error)
	// Mirror is what there is of package repositories.
	Mirror() (resource.MirrorStatus, error)
}

// Writer changes what the agent holds, and what it has cached, durably.
type Writer interface {
	// Place enforces a hold whose id is given; fresh says that it is a new one.
	Place(h resource.ActiveHold) (placed Hold, fresh bool, err error)
	// Release ends a hold; reason is why somebody else than its owner does.
	Release(id, by, reason string) (Hold, error)
	// Resume asks for a server to be booted on that something else stopped or started.
	Resume(r resource.Request) error
	// Confirm notes that somebody says of a held server that it is down.
	Confirm(id, by, reason string) (Hold, error)
	// Flush forgets what is cached of package repositories: all, or what is at a URL or path and
	// below it.
	Flush(ctx context.Context, what string, force bool) (resource.MirrorFlushed, error)
}

// Config is what a Server needs.
type Config struct {
	Reader     Reader
	Writer     Writer
	NewID      func() string // a ULID in lower case
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	// UserName is for tests; nil asks the host.
	UserName func(uid string) (string, error)
}

// Limits of the server.
const (
	maxConns      = 32
	maxBody       = 64 << 10
	maxHeader     = 8 << 10
	readTimeout   = 10 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = time.Minute
	closeTimeout  = 2 * time.Second
	healthyResult = "ok"
)

// API answers on the agent's socket. It is safe for concurrent use.
type API struct {
	cfg     Config
	answers *prometheus.CounterVec
	mux     *http.ServeMux
}

// New registers the API's metric; nothing listens yet.
func New(cfg Config) *API {
	a := &API{cfg: cfg, mux: http.NewServeMux(), answers: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_agent_local_requests_total", Help: "Requests on the agent's socket, by result: ok, or the code of the error.",
	}, []string{"result"})}
	if a.cfg.UserName == nil {
		a.cfg.UserName = userName
	}
	a.answers.WithLabelValues(healthyResult)
	for _, c := range protocol.Codes() {
		a.answers.WithLabelValues(string(c))
	}
	cfg.Registerer.MustRegister(a.answers)
	a.route(http.MethodGet, "/v1/status", a.status)
	a.route(http.MethodGet, "/v1/servers", a.servers)
	a.route(http.MethodGet, "/v1/servers/{name}", a.server)
	a.route(http.MethodGet, "/v1/servers/{name}/trace", a.trace)
	a.route(http.MethodGet, "/v1/holds", a.holds)
	a.route(http.MethodGet, "/v1/mirror", a.mirror)
	a.route(http.MethodPost, "/v1/mirror/flush", a.flush)
	a.route(http.MethodPost, "/v1/servers/{name}/holds", a.place)
	a.route(http.MethodPost, "/v1/servers/{name}/resume", a.resume)
	a.route(http.MethodPost, "/v1/holds/{id}/release", a.release)
	a.route(http.MethodPost, "/v1/holds/{id}/confirm-down", a.confirm)
	a.mux.HandleFunc("/", a.nothing)
	return a
}

// Run serves until ctx ends, then closes l. What was asked before is answered still.
func (a *API) Run(ctx context.Context, l net.Listener) error {
	s := &http.Server{
		Handler: a, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		ErrorLog:    slog.NewLogLogger(a.cfg.Logger.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ConnContext: a.meet,
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(newRoom(l, maxConns)) }()
	select {
	case err := <-done:
		return protocol.Errorf(protocol.CodeUnavailable, "serve the socket", "%w", err)
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if s.Shutdown(end) != nil {
		_ = s.Close() // somebody does not read
	}
	<-done
	return nil
}

// callerKey is the context's key of a *caller.
type callerKey struct{}

// caller is who connected, or why nobody knows.
type caller struct {
	owner func() string // asks the host once; that may take a while
	err   error
}

func (a *API) meet(ctx context.Context, c net.Conn) context.Context {
	if g, ok := c.(*guest); ok {
		c = g.Conn
	}
	uid, err := peerOf(c)
	owner := sync.OnceValue(func() string { return OwnerPrefix + nameOf(uid, a.cfg.UserName) })
	return context.WithValue(ctx, callerKey{}, &caller{owner, err})
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, ok := r.Context().Value(callerKey{}).(*caller)
	switch {
	case !ok:
		a.fail(w, errors.New("a request without a connection"))
	case c.err != nil:
		a.fail(w, c.err)
	default:
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		a.mux.ServeHTTP(w, r)
	}
}

// by is the caller of a request.
func by(r *http.Request) string {
	c, _ := r.Context().Value(callerKey{}).(*caller)
	return c.owner()
}

// nothing answers what no route fits.
func (a *API) nothing(w http.ResponseWriter, r *http.Request) {
	a.fail(w, protocol.Errorf(protocol.CodeNotFound, "find the route", "there is no %s %q", r.Method, r.URL.Path).
		WithHint("agent and command may be of different versions; compare them with rackboot-agent --version"))
}

func (a *API) fail(w http.ResponseWriter, err error) {
	p := api.ProblemOf(err)
	if tooLong, ok := errors.AsType[*http.MaxBytesError](err); ok && tooLong != nil {
		p = p.WithStatus(http.StatusRequestEntityTooLarge)
	}
	if p.Code == protocol.CodeInternal {
		a.cfg.Logger.Error("a request on the socket failed", "err", err)
	}
	a.answers.WithLabelValues(string(p.Code)).Inc()
	write(w, api.ProblemType, p.Status, p)
}
