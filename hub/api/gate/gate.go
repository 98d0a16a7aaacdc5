package gate

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/access"
	"rackboot/hub/api/route"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/state"
	"rackboot/state/heads"
)

// maxInFlight bounds the requests that are worked on at once; more are
// refused as unavailable.
const maxInFlight = 256

// Config is what the gate needs. Recorder and Writable may be nil.
type Config struct {
	// Table has the routes behind the gate. New has their requests pass the gate, so that it
	// comes before the first route.
	Table *route.Table
	Store *store.Store
	// Token is the admin's bearer token, at least 16 bytes.
	Token string
	// Clients are the other callers.
	Clients []Client
	// ClientCAs are the authorities whose certificates are those of clients alone. Of
	// another one that TLS accepts, such as the hub's, a certificate needs
	// [access.ClientUnit].
	ClientCAs route.Authorities
	Limits    Limits
	// Recorder keeps the audit log; nil is none.
	Recorder   Recorder
	Clock      state.Clock
	Registerer prometheus.Registerer
	Logger     *slog.Logger
	// Writable says why nothing may be changed now; nil error when it may.
	Writable func() error
}

// Gate lets requests through to the table's routes. It is safe for concurrent use.
type Gate struct {
	table    *route.Table
	callers  callers
	limits   *limiter
	ledger   *ledger
	writable func() error
	lost     func() *heads.Loss // what the store has lost; nil is nothing
	logger   *slog.Logger
	metrics  metrics
	inFlight chan struct{}
}

// New makes the gate before a table that is still empty; invalid if no caller can be told from another.
func New(cfg Config) (*Gate, error) {
	callers, err := newCallers(cfg.Token, cfg.Clients, cfg.ClientCAs)
	if err != nil {
		return nil, err
	}
	m := newMetrics(cfg.Registerer)
	g := &Gate{
		table: cfg.Table, callers: callers, limits: newLimiter(cfg.Limits, callers.known),
		ledger:   newLedger(cfg.Recorder, cfg.Clock, m.unrecorded, cfg.Logger),
		writable: cfg.Writable, lost: cfg.Store.Lost, logger: cfg.Logger, metrics: m, inFlight: make(chan struct{}, maxInFlight),
	}
	j := judge{objects: cfg.Store.Objects, requests: cfg.Store.Requests, table: cfg.Table, ledger: g.ledger}
	a := answers{answers: cfg.Store.Answers, table: cfg.Table, logger: cfg.Logger}
	cfg.Table.Use(j.judge, hurry(cfg.Table, cfg.Store.Haste), a.once, record(cfg.Table, g.ledger))
	return g, nil
}

// ServeHTTP admits a request, gives it a deadline and a caller, and turns a
// panic into a problem.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	allowed := patience(r)
	ctx, cancel := context.WithTimeout(r.Context(), allowed)
	defer cancel()
	who, known := g.callers.of(r)
	if known {
		ctx = route.WithCaller(ctx, who)
	}
	r = r.WithContext(ctx)
	rec := &recorder{ResponseWriter: w}
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			g.logger.Error("api handler panicked", "route", r.Pattern, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			if rec.status == 0 {
				route.WriteProblem(rec, protoapi.ProblemOf(protocol.Errorf(protocol.CodeInternal, "answer", "the hub failed").WithHint("see the hub's log")))
			}
		}
		g.observe(r, rec.status, who.Name, time.Since(began))
	}()
	if !g.admit(rec, r, who.Name, known) {
		return
	}
	if !g.enter(r) {
		g.metrics.refused.Inc()
		route.Unread(rec, r)
		route.WriteProblem(rec, protoapi.ProblemOf(protocol.Errorf(protocol.CodeUnavailable, "answer", "the hub is answering %d requests already", maxInFlight).
			WithHint("try again")))
		return
	}
	defer g.leave(r)
	if err := g.changes(r); err != nil {
		route.WriteProblem(rec, protoapi.ProblemOf(err))
		return
	}
	extend(w, allowed)
	if l := g.lost(); l != nil {
		rec.absence = &absence{r, l}
	}
	g.table.ServeHTTP(rec, r)
}

// enter takes one of the places of the requests that are answered at once, unless the
// request has a place of its own.
func (g *Gate) enter(r *http.Request) bool {
	if streams(r) {
		return true
	}
	select {
	case g.inFlight <- struct{}{}:
		return true
	default:
		return false
	}
}

func (g *Gate) leave(r *http.Request) {
	if !streams(r) {
		<-g.inFlight
	}
}

// admit counts a request against the limits, refuses one that nobody is known to send,
// and reads its body.
func (g *Gate) admit(w http.ResponseWriter, r *http.Request, who string, known bool) bool {
	open, most := open(r), int64(protoapi.MaxBody)
	if !known {
		if open && !mutates(r) {
			r.Body = http.NoBody
			return true // the answer is ready, and the same for everybody
		}
		most = maxOpenBody
	} else if r.URL.Path == protoapi.PathImport && access.MayAnywhere(route.Caller(r.Context()), access.Import) {
		most = protoapi.MaxImport
	}
	by := "source"
	if known {
		by = "caller"
	}
	gauge, after := g.limits.admit(r, who, known)
	if after > 0 {
		route.Unread(w, r)
		g.metrics.limited.WithLabelValues(by).Inc()
		tooMany(w, after)
		return false
	}
	if !known && !open {
		err := protocol.Errorf(protocol.CodeDenied, "authenticate", "the token is missing or wrong").
			WithHint("rackctl login gives one to rackctl; a client certificate must be one that clients of hub.yaml names")
		g.ledger.denied(r, entryOf(r, nil, route.Rule{Right: "authenticate"}), err)
		route.Unread(w, r)
		w.Header().Set("WWW-Authenticate", `Bearer realm="rackboot"`)
		route.WriteProblem(w, protoapi.ProblemOf(err).WithStatus(http.StatusUnauthorized))
		return false
	}
	if known && isPiece(r) {
		return true // its handler reads it
	}
	if err := read(w, r, gauge, most); err != nil {
		p := protoapi.ProblemOf(err)
		if p.Status == http.StatusTooManyRequests {
			g.metrics.limited.WithLabelValues(by).Inc()
		}
		route.WriteProblem(w, p)
		return false
	}
	return true
}

// changes refuses a request that may change something while nothing may be changed.
func (g *Gate) changes(r *http.Request) error {
	if !mutates(r) || g.writable == nil {
		return nil
	}
	return g.writable()
}

func (g *Gate) observe(r *http.Request, status int, who string, took time.Duration) {
	pattern := r.Pattern
	if pattern == "" || pattern == "/" {
		pattern = "other"
	}
	g.metrics.requests.WithLabelValues(pattern, strconv.Itoa(status)).Inc()
	g.metrics.seconds.WithLabelValues(pattern).Observe(took.Seconds())
	if r.Method != http.MethodGet {
		g.logger.Info("api request", "route", pattern, "path", r.URL.Path, "status", status, "by", who, "seconds", took.Seconds())
	}
}
