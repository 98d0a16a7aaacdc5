package otlp

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/bootspan"
)

const (
	// maxWaiting bounds the spans that wait; a boot has about six. What comes on top is dropped.
	maxWaiting = 1024
	// batch bounds the spans of one request.
	batch = 256
	// gather is how long the first span of a batch waits for others.
	gather = time.Second
	// patience bounds one request, from the connection to the end of the answer.
	patience = 10 * time.Second
	// firstPause is waited after a failure; it doubles with each in a row, to maxPause.
	firstPause = time.Second
	maxPause   = time.Minute
	// maxAsked bounds what a collector may ask for by Retry-After.
	maxAsked = 5 * time.Minute
	// flushWithin is what a program that ends gives to all that waits.
	flushWithin = 3 * time.Second
)

// Config is what an Exporter is made of.
type Config struct {
	// Endpoint is that of the collector, to which /v1/traces is added.
	Endpoint *url.URL
	Headers  http.Header
	TLS      *tls.Config // of https
	Resource Resource

	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Resource is who sends.
type Resource struct{ Agent, Rack, Version, Host string }

// outcome is what became of spans.
type outcome string

const (
	outcomeSent    outcome = "sent"
	outcomeRefused outcome = "refused" // by the collector, or what answers in its place
	outcomeDropped outcome = "dropped" // too many waited, or the program ended
)

// Exporter sends spans. Make it with New, then call Run once. All methods are safe for concurrent use; none but Run
// waits.
type Exporter struct {
	sender *sender
	log    *slog.Logger
	spans  *prometheus.CounterVec
	woken  chan struct{} // has room for one

	mu      sync.Mutex
	waiting []bootspan.Span
}

// New makes one. Nothing is sent before Run.
func New(c Config) *Exporter {
	e := &Exporter{
		sender: newSender(c), log: c.Logger, woken: make(chan struct{}, 1),
		spans: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_agent_otlp_spans_total", Help: "Spans of boots, by what became of them: sent, refused by the collector, or dropped because too many waited.",
		}, []string{"outcome"}),
	}
	for _, o := range []outcome{outcomeSent, outcomeRefused, outcomeDropped} {
		e.spans.WithLabelValues(string(o))
	}
	c.Registerer.MustRegister(e.spans, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rackboot_agent_otlp_waiting_spans", Help: "Spans of boots that wait to be sent to the collector.",
	}, func() float64 { return float64(e.left()) }))
	return e
}

// Ended queues the spans of a boot that has ended. It does not wait: where they do not fit, all of them are dropped.
func (e *Exporter) Ended(b bootspan.Boot) {
	spans := bootspan.Spans(b)
	e.mu.Lock()
	fits := len(e.waiting)+len(spans) <= maxWaiting
	if fits {
		e.waiting = append(e.waiting, spans...)
	}
	e.mu.Unlock()
	if !fits {
		e.count(outcomeDropped, len(spans))
		return
	}
	select {
	case e.woken <- struct{}{}:
	default:
	}
}

// Lost counts the spans of a boot that cannot be handed over.
func (e *Exporter) Lost(b bootspan.Boot) { e.count(outcomeDropped, len(bootspan.Spans(b))) }

func (e *Exporter) count(o outcome, n int) { e.spans.WithLabelValues(string(o)).Add(float64(n)) }

func (e *Exporter) left() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.waiting)
}

// next is what is sent first. It stays in the queue until took.
func (e *Exporter) next() []bootspan.Span {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.waiting[:min(batch, len(e.waiting)):min(batch, len(e.waiting))]
}

// took removes the first n.
func (e *Exporter) took(n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	rest := e.waiting[n:]
	e.waiting = make([]bootspan.Span, len(rest)) // what was sent is freed
	copy(e.waiting, rest)
}

// Run sends until ctx ends, and then what waits, within a deadline of 3 s. What is left is counted and lost.
func (e *Exporter) Run(ctx context.Context) {
	failures := 0
	for wait(ctx, nil, e.woken) { // until there is something
		if !pause(ctx, gather) {
			break
		}
		for e.left() > 0 && ctx.Err() == nil {
			again := e.send(ctx, &failures)
			if again > 0 && !pause(ctx, again) {
				break
			}
		}
	}
	e.flush(context.WithoutCancel(ctx))
}

// send sends one batch, and returns how long to wait before the same is sent again; 0 where the batch is done with.
func (e *Exporter) send(ctx context.Context, failures *int) (again time.Duration) {
	spans := e.next()
	a := e.sender.send(ctx, spans)
	if a.verdict == verdictAgain {
		if ctx.Err() != nil { // it is the program that ends
			return maxPause
		}
		if *failures++; *failures == 1 {
			e.log.Warn("the collector does not take spans; they wait", "err", a.err, "status", a.status, "waiting", e.left())
		}
		return max(min(firstPause<<min(*failures-1, 10), maxPause), min(a.after, maxAsked))
	}
	e.took(len(spans))
	refused := len(spans)
	if a.verdict == verdictTaken {
		refused = min(a.refused, len(spans))
	}
	e.count(outcomeRefused, refused)
	e.count(outcomeSent, len(spans)-refused)
	switch {
	case refused > 0:
		e.log.Warn("the collector refuses spans", "spans", refused, "status", a.status, "err", a.err)
	case *failures > 0:
		e.log.Info("the collector takes spans again", "after", *failures)
	}
	*failures = 0
	return 0
}

// flush sends what waits, once.
func (e *Exporter) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushWithin)
	defer cancel()
	failures := 0
	for e.left() > 0 && e.send(ctx, &failures) == 0 {
	}
	if n := e.left(); n > 0 {
		e.took(n)
		e.count(outcomeDropped, n)
		e.log.Warn("spans are lost, because the agent ends and the collector does not take them", "spans", n)
	}
}

// pause waits, and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	return wait(ctx, t.C, nil)
}

// wait waits for either, and reports whether ctx goes on.
func wait(ctx context.Context, over <-chan time.Time, woken <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-over:
	case <-woken:
	}
	return ctx.Err() == nil
}
