package api

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	refused  prometheus.Counter
}

func newMetrics(r prometheus.Registerer) metrics {
	m := metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_api_requests_total", Help: "Requests to the hub's API by route and HTTP status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "rackboot_hub_api_request_seconds", Help: "Time to answer requests to the hub's API.",
			Buckets: []float64{.001, .005, .025, .1, .5, 2.5, 10},
		}, []string{"route"}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_hub_api_overload_total", Help: "Requests refused because too many were being answered.",
		}),
	}
	r.MustRegister(m.requests, m.seconds, m.refused)
	return m
}

// ServeHTTP admits a request, gives it a deadline and a caller, and turns a
// panic into a problem.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	allowed := patience(r)
	ctx, cancel := context.WithTimeout(r.Context(), allowed)
	defer cancel()
	open := openRoute(r)
	who, known := a.authenticate(r)
	if known {
		ctx = context.WithValue(ctx, callerKey{}, who)
	}
	r = r.WithContext(ctx)
	r.Body = http.MaxBytesReader(w, r.Body, protoapi.MaxBody+1) // huma refuses what is longer than MaxBody
	rec := &recorder{ResponseWriter: w}
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			a.logger.Error("api handler panicked", "route", r.Pattern, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			if rec.status == 0 {
				writeProblem(rec, protoapi.ProblemOf(protocol.Errorf(protocol.CodeInternal, "answer", "the hub failed").WithHint("see the hub's log")))
			}
		}
		a.observe(r, rec.status, who.Name, time.Since(began))
	}()
	select {
	case a.inFlight <- struct{}{}:
		defer func() { <-a.inFlight }()
	default:
		a.metrics.refused.Inc()
		writeProblem(rec, protoapi.ProblemOf(protocol.Errorf(protocol.CodeUnavailable, "answer", "the hub is answering %d requests already", maxInFlight).
			WithHint("try again")))
		return
	}
	if !known && !open {
		w.Header().Set("WWW-Authenticate", `Bearer realm="rackboot"`)
		writeProblem(rec, protoapi.ProblemOf(protocol.Errorf(protocol.CodeDenied, "authenticate", "the token is missing or wrong").
			WithHint("rackctl context set NAME --token-file FILE")).WithStatus(http.StatusUnauthorized))
		return
	}
	if err := a.changes(r); err != nil {
		writeProblem(rec, protoapi.ProblemOf(err))
		return
	}
	extend(w, allowed)
	a.mux.ServeHTTP(rec, r)
}

// changes refuses a request that may change something while nothing may be changed.
func (a *API) changes(r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || a.writable == nil {
		return nil
	}
	return a.writable()
}

// openRoute says whether a route needs no bearer token. Joining brings its own.
func openRoute(r *http.Request) bool {
	switch r.URL.Path {
	case protoapi.PathHealth, protoapi.PathReady, protoapi.PathOpenAPI:
		return r.Method == http.MethodGet
	case protoapi.PathJoin:
		return r.Method == http.MethodPost
	}
	return false
}

func (a *API) observe(r *http.Request, status int, who string, took time.Duration) {
	route := r.Pattern
	if route == "" || route == "/" {
		route = "other"
	}
	a.metrics.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	a.metrics.seconds.WithLabelValues(route).Observe(took.Seconds())
	if r.Method != http.MethodGet {
		a.logger.Info("api request", "route", route, "path", r.URL.Path, "status", status, "by", who, "seconds", took.Seconds())
	}
}

// recorder remembers the status.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	return r.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection's deadlines.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
