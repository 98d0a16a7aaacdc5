package audit

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
)

// metrics are what is counted, and what is asked of the Log at each scrape.
type metrics struct {
	log      *Log
	entries  *prometheus.CounterVec
	failures prometheus.Counter
	seconds  prometheus.Histogram

	head, uncovered, waiting, broken, size *prometheus.Desc
}

func newMetrics(l *Log) *metrics {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, nil, nil)
	}
	m := &metrics{
		log: l,
		entries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_audit_entries_total", Help: "Entries that were written to the audit log, by outcome; without the log's own.",
		}, []string{"outcome"}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_hub_audit_failures_total", Help: "Writes to the audit log that failed or were refused.",
		}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "rackboot_hub_audit_append_seconds", Help: "Time until an entry of the audit log was on disk.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .1, .5, 2.5},
		}),
		head:      desc("rackboot_hub_audit_head", "Number of the last entry of the audit log; it never falls."),
		uncovered: desc("rackboot_hub_audit_uncovered_entries", "Entries of the audit log after the last signed one."),
		waiting:   desc("rackboot_hub_audit_waiting_entries", "Entries that wait to be written to the audit log."),
		broken:    desc("rackboot_hub_audit_broken_segments", "Segments of the audit log that do not fit together."),
		size:      desc("rackboot_hub_audit_size_bytes", "Size of the audit log."),
	}
	for _, o := range protocol.AuditOutcomes() {
		m.entries.WithLabelValues(string(o))
	}
	return m
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	m.entries.Describe(ch)
	m.failures.Describe(ch)
	m.seconds.Describe(ch)
	for _, d := range []*prometheus.Desc{m.head, m.uncovered, m.waiting, m.broken, m.size} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	m.entries.Collect(ch)
	m.failures.Collect(ch)
	m.seconds.Collect(ch)
	l := m.log
	l.has.mu.RLock()
	defer l.has.mu.RUnlock()
	var size int64
	for _, s := range l.has.segments {
		size += s.size
	}
	gauge := func(d *prometheus.Desc, v float64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	gauge(m.head, float64(l.has.head.seq))
	gauge(m.uncovered, float64(l.has.uncovered))
	gauge(m.waiting, float64(len(l.queue)))
	gauge(m.broken, float64(len(l.has.broken)))
	gauge(m.size, float64(size))
}
