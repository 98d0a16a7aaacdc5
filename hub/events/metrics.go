package events

import "github.com/prometheus/client_golang/prometheus"

func newReleases() *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_hub_hold_releases_total", Help: "Holds that were released, by who ended them.",
	}, []string{"kind"})
	for _, k := range ReleaseKinds() {
		v.WithLabelValues(string(k))
	}
	return v
}

// Describe implements prometheus.Collector.
func (l *Log) Describe(ch chan<- *prometheus.Desc) { l.releases.Describe(ch) }

// Collect implements prometheus.Collector.
func (l *Log) Collect(ch chan<- prometheus.Metric) { l.releases.Collect(ch) }
