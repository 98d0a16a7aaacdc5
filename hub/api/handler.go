package api

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/access"
	"rackboot/protocol"
	protoapi "rackboot/protocol/api"
)

type metrics struct {
	requests   *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	refused    prometheus.Counter
	limited    *prometheus.CounterVec
	unrecorded prometheus.Counter
	// throttled counts what strangers asked too often.
	throttled prometheus.Counter
	// connRefused counts connections that were closed because there were too many.
	connRefused prometheus.Counter
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
		limited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_api_limited_total", Help: "Requests refused because they came too often, by known callers or by sources.",
		}, []string{"by"}),
		unrecorded: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_hub_api_unrecorded_total", Help: "Audit entries of refusals and outcomes that were not written.",
		}),
	}
	m.limited.WithLabelValues("caller").Add(0)
	m.limited.WithLabelValues("source").Add(0)
	m.throttled = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rackboot_hub_join_throttled_total", Help: "Requests to join or renew that were refused because there were too many from their address.",
	})
	m.connRefused = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "rackboot_hub_api_connections_refused_total", Help: "Connections to the hub's API that were closed because there were too many.",
	})
	r.MustRegister(m.requests, m.seconds, m.refused, m.limited, m.unrecorded, m.throttled, m.connRefused)
	return m
}

// ServeHTTP admits a request, gives it a deadline and a caller, and turns a
// panic into a problem.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	allowed := patience(r)
	ctx, cancel := context.WithTimeout(r.Context(), allowed)
	defer cancel()
	who, known := a.authenticate(r)
	if known {
		ctx = context.WithValue(ctx, callerKey{}, who)
	}
	r = r.WithContext(ctx)
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
	if !a.admit(rec, r, who.Name, known) {
		return
	}
	if !a.enter(r) {
		a.metrics.refused.Inc()
		unread(rec, r)
		writeProblem(rec, protoapi.ProblemOf(protocol.Errorf(protocol.CodeUnavailable, "answer", "the hub is answering %d requests already", maxInFlight).
			WithHint("try again")))
		return
	}
	defer a.leave(r)
	if err := a.changes(r); err != nil {
		writeProblem(rec, protoapi.ProblemOf(err))
		return
	}
	extend(w, allowed)
	a.mux.ServeHTTP(rec, r)
}

// enter takes one of the places of the requests that are answered at once, unless the
// request has a place of its own.
func (a *API) enter(r *http.Request) bool {
	if streams(r) {
		return true
	}
	select {
	case a.inFlight <- struct{}{}:
		return true
	default:
		return false
	}
}

func (a *API) leave(r *http.Request) {
	if !streams(r) {
		<-a.inFlight
	}
}

// admit counts a request against the limits, refuses one that nobody is known to send,
// and reads its body.
func (a *API) admit(w http.ResponseWriter, r *http.Request, who string, known bool) bool {
	open, most := openRoute(r), int64(protoapi.MaxBody)
	if !known {
		if open && !mutates(r) {
			r.Body = http.NoBody
			return true // the answer is ready, and the same for everybody
		}
		most = maxOpenBody
	} else if r.URL.Path == protoapi.PathImport && access.MayAnywhere(caller(r.Context()), access.Import) {
		most = protoapi.MaxImport
	}
	by := "source"
	if known {
		by = "caller"
	}
	g, after := a.limits.admit(r, who, known)
	if after > 0 {
		unread(w, r)
		a.metrics.limited.WithLabelValues(by).Inc()
		tooMany(w, after)
		return false
	}
	if !known && !open {
		err := protocol.Errorf(protocol.CodeDenied, "authenticate", "the token is missing or wrong").
			WithHint("rackctl login gives one to rackctl; a client certificate must be one that clients of hub.yaml names")
		a.Denied(r, entryOf(r, nil, rule{op: "authenticate"}), err)
		unread(w, r)
		w.Header().Set("WWW-Authenticate", `Bearer realm="rackboot"`)
		writeProblem(w, protoapi.ProblemOf(err).WithStatus(http.StatusUnauthorized))
		return false
	}
	if known && isPiece(r) {
		return true // its handler reads it
	}
	if err := read(w, r, g, most); err != nil {
		p := protoapi.ProblemOf(err)
		if p.Status == http.StatusTooManyRequests {
			a.metrics.limited.WithLabelValues(by).Inc()
		}
		writeProblem(w, p)
		return false
	}
	return true
}

// changes refuses a request that may change something while nothing may be changed.
func (a *API) changes(r *http.Request) error {
	if !mutates(r) || a.writable == nil {
		return nil
	}
	return a.writable()
}

// openRoute says whether a route needs no bearer token. Joining brings its own.
func openRoute(r *http.Request) bool {
	if isPull(r) {
		return true
	}
	switch r.URL.Path {
	case protoapi.PathHealth, protoapi.PathReady, protoapi.PathOpenAPI, protoapi.PathAuthority:
		return r.Method == http.MethodGet
	case protoapi.PathJoin, protoapi.PathRenew, protoapi.PathIgnition, protoapi.PathEnvBundle:
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

// maxKept bounds what is kept of an answer that is no success, in bytes: a problem
// without many wrong fields.
const maxKept = 8 << 10

// recorder remembers the status, and the beginning of the body of what is no success.
type recorder struct {
	http.ResponseWriter
	status    int
	kept      []byte
	keep      int  // how much is kept of any answer
	untouched bool // nothing was done
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
		if status >= http.StatusBadRequest {
			r.keep = max(r.keep, maxKept)
		}
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	r.kept = append(r.kept, b[:min(len(b), max(0, r.keep-len(r.kept)))]...)
	return r.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection's deadlines.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
