package leasing

import (
	"log/slog"
	"net/netip"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot/guard"
)

// What the queue says of a packet that caused a panic.
const (
	TypeUnknown = "unknown" // label `type`
	ResultPanic = "panic"   // label `result`
)

// Words are how a server is named in metrics and errors.
type Words struct {
	Server    string // in errors
	Protocol  string
	Packet    string // one of its messages
	Client    string
	Addresses string // at the begin of a sentence
	Names     Names
}

// Names are those of the metrics, each written in full where somebody looks for it.
type Names struct{ Packets, Seconds, Drops, SendErrors, Loops, Leases, Resting string }

// Metrics are those that the servers of both versions have.
type Metrics struct {
	Packets *prometheus.CounterVec // by type and result
	Loops   *prometheus.CounterVec // refused boots, by class
	Drops   prometheus.Counter     // the queue was full

	words   Words
	segment prometheus.Labels
	latency prometheus.Histogram

	sendErrors prometheus.Counter
	all        guard.Collectors
}

// NewMetrics makes those of a segment. leases counts the leases that run, resting the
// addresses that are not offered because they were found in use.
func NewMetrics(segment string, w Words, leases, resting func() int) *Metrics {
	m := &Metrics{words: w, segment: prometheus.Labels{"segment": segment}}
	counter := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Name: name, ConstLabels: m.segment, Help: help}
	}
	m.Packets = prometheus.NewCounterVec(
		counter(w.Names.Packets, w.Protocol+" "+w.Packet+"s received, by message type and what became of them."), []string{"type", "result"})
	m.latency = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: w.Names.Seconds, ConstLabels: m.segment,
		Help:    "Time from a " + w.Protocol + " " + w.Packet + "'s arrival to its reply's departure.",
		Buckets: prometheus.ExponentialBuckets(0.00025, 4, 8), // 0.25 ms to 4 s, EDK2's first window
	})
	m.Drops = prometheus.NewCounter(counter(w.Names.Drops, w.Protocol+" "+w.Packet+"s dropped because the queue was full, or half full and their sender had its share."))
	m.sendErrors = prometheus.NewCounter(counter(w.Names.SendErrors, w.Protocol+" replies that the host could not send."))
	m.Loops = prometheus.NewCounterVec(
		counter(w.Names.Loops, "Boots refused because the "+w.Client+" had been offered the same one too often, by its class."), []string{"class"})
	m.all = guard.Collectors{m.Packets, m.latency, m.Drops, m.sendErrors, m.Loops}
	m.Gauge(w.Names.Leases, w.Protocol+" leases that run.", leases)
	m.Gauge(w.Names.Resting, w.Addresses+" that are not offered because they were found in use.", resting)
	return m
}

// Sent counts the reply to a packet that came at a time; the zero AddrPort says that there is none.
func (m *Metrics) Sent(log *slog.Logger, at time.Time, to netip.AddrPort, err error) {
	switch {
	case !to.IsValid():
	case err != nil:
		m.sendErrors.Inc()
		log.Warn("dhcp reply not sent", "to", to.String(), "err", err)
	default:
		m.latency.Observe(time.Since(at).Seconds())
	}
}

// Recover ends a panic of work on a packet, which costs that packet, not the server. It is deferred.
func (m *Metrics) Recover(log *slog.Logger) {
	if v := recover(); v != nil {
		m.Packets.WithLabelValues(TypeUnknown, ResultPanic).Inc()
		log.Error("dhcp packet caused a panic", "panic", v, "stack", string(debug.Stack()))
	}
}

// Gauge adds a value that is read when somebody asks.
func (m *Metrics) Gauge(name, help string, value func() int) {
	m.all = append(m.all, prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Name: name, ConstLabels: m.segment, Help: help}, func() float64 { return float64(value()) }))
}

// Counter adds a counter by one label.
func (m *Metrics) Counter(name, help, label string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, ConstLabels: m.segment, Help: help}, []string{label})
	m.all = append(m.all, c)
	return c
}

// Register registers all of them, or none.
func (m *Metrics) Register(r prometheus.Registerer) error { return m.all.Register(r) }

// Unregister takes them back.
func (m *Metrics) Unregister(r prometheus.Registerer) { m.all.Unregister(r) }
