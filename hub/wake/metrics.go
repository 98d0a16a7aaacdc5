package wake

import "github.com/prometheus/client_golang/prometheus"

type unitMetrics struct {
	turns   *prometheus.HistogramVec
	failed  *prometheus.CounterVec
	waiting *prometheus.Desc
}

func newUnitMetrics() unitMetrics {
	m := unitMetrics{
		turns: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "rackboot_hub_turn_seconds", Help: "How long turns took: of a rack, of the site, or of the hold document of a rack.", Buckets: prometheus.ExponentialBuckets(0.0005, 4, 8),
		}, []string{"lane"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_turns_failed_total", Help: "Turns that failed, and are taken again, by lane.",
		}, []string{"lane"}),
		waiting: prometheus.NewDesc("rackboot_hub_turns_waiting", "Racks, and the site, that wait for a turn, by lane.", []string{"lane"}, nil),
	}
	for _, l := range []lane{laneRack, laneSite, laneHolds} {
		m.turns.WithLabelValues(string(l))
		m.failed.WithLabelValues(string(l))
	}
	return m
}

// Describe implements prometheus.Collector.
func (u *Units) Describe(ch chan<- *prometheus.Desc) {
	ch <- u.metrics.waiting
	u.metrics.turns.Describe(ch)
	u.metrics.failed.Describe(ch)
}

// Collect implements prometheus.Collector.
func (u *Units) Collect(ch chan<- prometheus.Metric) {
	u.metrics.turns.Collect(ch)
	u.metrics.failed.Collect(ch)
	for l, q := range map[lane]interface{ Waiting() int }{laneRack: u.Racks, laneHolds: u.Holds} {
		ch <- prometheus.MustNewConstMetric(u.metrics.waiting, prometheus.GaugeValue, float64(q.Waiting()), string(l))
	}
}
