package redfish

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
)

// metrics has bounded labels: the operation and the error code, never the BMC.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	waiting  prometheus.Gauge
}

func newMetrics() *metrics {
	return &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_bmc_requests_total",
			Help: "Requests to BMCs by operation and result code; ok for success.",
		}, []string{"op", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "rackboot_bmc_request_seconds",
			Help:    "Time from sending a request to a BMC to the end of its answer.",
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"op"}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "rackboot_bmc_waiting",
			Help: "Calls that wait for another call to the same BMC to end.",
		}),
	}
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.requests, m.seconds, m.waiting}
}

func (m *metrics) done(op string, took time.Duration, err error) {
	code := "ok"
	if err != nil {
		code = string(protocol.CodeOf(err))
	}
	m.requests.WithLabelValues(op, code).Inc()
	m.seconds.WithLabelValues(op).Observe(took.Seconds())
}
