package gate

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/access"
	"rackboot/hub/api/fair"
	"rackboot/hub/api/route"
	"rackboot/hub/store"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
	"rackboot/state"
	"rackboot/state/heads"
)

const (
	// maxInFlight bounds the requests that are worked on at once; more are refused as unavailable. One
	// caller has half of them at most.
	maxInFlight = 256
	// maxTurns bounds the requests of one caller that wait for their turn.
	maxTurns = 32
)

// Config is what the gate needs. Recorder and Writable may be nil.
type Config struct {
	// Table has the routes behind the gate. New has their requests pass the gate, so that it
	// comes before the first route.
	Table *route.Table
	Store *store.Store
	// Token is the admin's bearer token, at least 16 bytes.
	Token string
	Callers
	Limits Limits
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
	table     *route.Table
	callers   atomic.Pointer[callers]
	flights   flights
	replacing sync.Mutex // one replacement at a time
	limits    *limiter
	ledger    *ledger
	writable  func() error
	lost      func() *heads.Loss // what the store has lost; nil is nothing
	logger    *slog.Logger
	metrics   metrics
	places    *fair.Places // of the requests that are answered at once
}

// New makes the gate before a table that is still empty; invalid if no caller can be told from another.
func New(cfg Config) (*Gate, error) {
	first, err := newAdmin(cfg.Token)
	if err != nil {
		return nil, err
	}
	callers, err := newCallers(first, cfg.Callers, route.NewAuthorities(cfg.Authorities))
	if err != nil {
		return nil, err
	}
	turns := fair.New(max(4, 2*runtime.GOMAXPROCS(0)), maxTurns)
	m := newMetrics(cfg.Registerer, turns)
	g := &Gate{
		table: cfg.Table, limits: newLimiter(cfg.Limits),
		ledger:   newLedger(cfg.Recorder, cfg.Clock, m.unrecorded, cfg.Logger),
		writable: cfg.Writable, lost: cfg.Store.Lost, logger: cfg.Logger, metrics: m, places: fair.New(maxInFlight, 0),
	}
	g.callers.Store(callers)
	j := judge{objects: cfg.Store.Objects, requests: cfg.Store.Requests, table: cfg.Table, ledger: g.ledger}
	a := answers{answers: cfg.Store.Answers, table: cfg.Table, logger: cfg.Logger}
	cfg.Table.Use(j.judge, hurry(cfg.Table, cfg.Store.Haste), inTurn(cfg.Table, turns, m), a.once, record(cfg.Table, g.ledger))
	return g, nil
}

// ServeHTTP admits a request, gives it a deadline and a caller, and turns a
// panic into a problem.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	allowed := patience(r)
	ctx, cancel := context.WithTimeout(r.Context(), allowed)
	defer cancel()
	set := g.callers.Load()
	who, err := set.of(ctx, r)
	known := err == nil
	if known {
		ctx = route.WithCaller(ctx, who)
	}
	r = r.WithContext(ctx)
	rec := &recorder{ResponseWriter: w}
	defer rec.abort() // the last of all
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			g.logger.Error("api handler panicked", "route", r.Pattern, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			if rec.status == 0 {
				route.WriteProblem(rec, protoapi.ProblemOf(protocol.Errorf(protocol.CodeInternal, "answer", "the hub failed").WithHint("see the hub's log")))
			}
		}
		rec.settle()
		g.observe(r, rec.status, who.Name, time.Since(began))
	}()
	if !g.admit(rec, r, who.Name, err) {
		return
	}
	leave := g.enter(rec, r, who.Name)
	if leave == nil {
		return
	}
	defer leave()
	if err := g.changes(r); err != nil {
		route.WriteProblem(rec, protoapi.ProblemOf(err))
		return
	}
	extend(w, allowed)
	if known && allowed > requestTimeout {
		r, rec.flight = g.flights.begin(r, w, who, set, &g.callers)
		defer g.flights.end(rec.flight)
		r = r.WithContext(route.WithStill(r.Context(), func() bool { return rec.flight.still(g.callers.Load()) }))
	}
	if l := g.lost(); l != nil {
		rec.absence = &absence{r, l}
	}
	g.table.ServeHTTP(rec, r)
}

// enter takes one of the places of the requests that are answered at once, unless the
// request has a place of its own, or refuses it: then leave is nil. who is empty for one that nobody is
// known to send; such have places by where they come from.
func (g *Gate) enter(w http.ResponseWriter, r *http.Request, who string) (leave func()) {
	if streams(r) {
		return func() {}
	}
	if who == "" {
		who = source(r).String()
	}
	ok, others := g.places.Try(who)
	if ok {
		return func() { g.places.Leave(who) }
	}
	route.Unread(w, r)
	if !others {
		g.metrics.limited.WithLabelValues("share").Inc()
		tooMany(w, 0)
		return nil
	}
	g.metrics.refused.Inc()
	route.WriteProblem(w, protoapi.ProblemOf(protocol.Errorf(protocol.CodeUnavailable, "answer", "the hub is answering %d requests already", maxInFlight).
		WithHint("try again")))
	return nil
}

// admit counts a request against the limits, refuses one that nobody is known to send,
// and reads its body.
func (g *Gate) admit(w http.ResponseWriter, r *http.Request, who string, unknown error) bool {
	known := unknown == nil
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
		g.unknown(w, r, unknown)
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

// unknown answers a request that nobody is known to send, or of whom that cannot be told now.
func (g *Gate) unknown(w http.ResponseWriter, r *http.Request, err error) {
	g.ledger.denied(r, entryOf(r, nil, route.Rule{Right: "authenticate"}), err)
	route.Unread(w, r)
	p := protoapi.ProblemOf(err)
	if protocol.CodeOf(err) != protocol.CodeUnavailable {
		w.Header().Set("WWW-Authenticate", `Bearer realm="rackboot"`)
		p = p.WithStatus(http.StatusUnauthorized)
	}
	route.WriteProblem(w, p)
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
