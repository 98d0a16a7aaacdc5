package httpboot

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot/guard"
)

// The reasons of the metric of what is refused.
const (
	refusedConnection = "client_connections"
	refusedRequest    = "client_requests"
)

type metrics struct {
	labels      prometheus.Labels // of all
	requests    *prometheus.CounterVec
	bytes       prometheus.Counter
	latency     prometheus.Histogram
	inFlight    prometheus.Gauge
	connections prometheus.Gauge
	limitWaits  prometheus.Counter
	refused     *prometheus.CounterVec
	files       func() prometheus.Counter // of requests, which most are
	hellos      *prometheus.CounterVec
	handshakes  *prometheus.CounterVec
}

// newMetrics makes the metrics of a listener. All have its scheme as a label, so
// that one registry takes both listeners of a segment.
func newMetrics(scheme string) *metrics {
	m := &metrics{
		labels: prometheus.Labels{"scheme": scheme},
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
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_http_boot_refused_total",
			Help: "Connections and requests refused because their client has as many open as it may, by reason.",
		}, []string{"reason"}),
		hellos: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_http_boot_tls_hellos_total",
			Help: "HTTPS boot handshakes that began, by the certificate that was chosen.",
		}, []string{"certificate"}),
		handshakes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_http_boot_tls_handshakes_total",
			Help: "HTTPS boot handshakes that succeeded, by key exchange.",
		}, []string{"exchange"}),
	}
	m.files = sync.OnceValue(func() prometheus.Counter {
		return m.requests.WithLabelValues(http.MethodGet, strconv.Itoa(http.StatusOK))
	})
	return m
}

// answered counts an answer.
func (m *metrics) answered(method string, status int) {
	if method == http.MethodGet && status == http.StatusOK {
		m.files().Inc()
		return
	}
	m.requests.WithLabelValues(methodLabel(method), strconv.Itoa(status)).Inc()
}

// methodLabel bounds the label: a client chooses its method freely.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
		return method
	}
	return "other"
}

func (m *metrics) all() guard.Collectors {
	return guard.Collectors{m.requests, m.bytes, m.latency, m.inFlight, m.connections, m.limitWaits, m.refused, m.hellos, m.handshakes}
}

func (m *metrics) register(r prometheus.Registerer) error {
	return m.all().Register(prometheus.WrapRegistererWith(m.labels, r)) // a nil one takes nothing
}

func (m *metrics) unregister(r prometheus.Registerer) {
	m.all().Unregister(prometheus.WrapRegistererWith(m.labels, r))
}
