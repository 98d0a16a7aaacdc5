package httpboot

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	requests    *prometheus.CounterVec
	bytes       prometheus.Counter
	latency     prometheus.Histogram
	inFlight    prometheus.Gauge
	connections prometheus.Gauge
	limitWaits  prometheus.Counter
}

func newMetrics() *metrics {
	return &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_http_boot_requests_total",
			Help: "HTTP boot requests, by method and status code.",
		}, []string{"method", "code"}),
		bytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_http_boot_sent_bytes_total",
			Help: "Bytes of HTTP boot bodies that were sent.",
		}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "rackboot_http_boot_request_seconds",
			Help:    "Time from an HTTP boot request's header to the last byte of its answer.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 11), // 0.5 ms to 9 minutes
		}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "rackboot_http_boot_in_flight_requests",
			Help: "HTTP boot requests that are being answered.",
		}),
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "rackboot_http_boot_connections",
			Help: "HTTP boot connections that are open.",
		}),
		limitWaits: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_http_boot_connection_limit_waits_total",
			Help: "Times that the server stopped accepting because of its connection limit.",
		}),
	}
}

// methodLabel bounds the label: a client chooses its method freely.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
		return method
	}
	return "other"
}

func (m *metrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.requests, m.bytes, m.latency, m.inFlight, m.connections, m.limitWaits}
}

func (m *metrics) register(r prometheus.Registerer) error {
	if r == nil {
		return nil
	}
	for i, c := range m.all() {
		if err := r.Register(c); err != nil {
			for _, done := range m.all()[:i] {
				r.Unregister(done)
			}
			return err
		}
	}
	return nil
}

func (m *metrics) unregister(r prometheus.Registerer) {
	if r == nil {
		return
	}
	for _, c := range m.all() {
		r.Unregister(c)
	}
}
