package gate

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/api/fair"
)

type metrics struct {
	requests   *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	refused    prometheus.Counter
	limited    *prometheus.CounterVec
	unrecorded prometheus.Counter
	// connRefused counts connections that were closed because there were too many.
	connRefused prometheus.Counter
}

func newMetrics(r prometheus.Registerer, turns *fair.Places) metrics {
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
			Name: "rackboot_hub_api_limited_total", Help: "Requests refused because there were too many: they came too often, by known callers or by sources, or their caller had its share of those that are answered at once.",
		}, []string{"by"}),
		unrecorded: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_hub_api_unrecorded_total", Help: "Audit entries of refusals and outcomes that were not written.",
		}),
		connRefused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_hub_api_connections_refused_total", Help: "Connections to the hub's API that were closed because there were too many.",
		}),
	}
	for _, by := range []string{"caller", "source", "share"} {
		m.limited.WithLabelValues(by).Add(0)
	}
	waiting := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rackboot_hub_api_waiting", Help: "Requests for lists, and others that take the processor, that wait for their turn.",
	}, func() float64 { return float64(turns.Waiting()) })
	r.MustRegister(waiting, m.requests, m.seconds, m.refused, m.limited, m.unrecorded, m.connRefused)
	return m
}
