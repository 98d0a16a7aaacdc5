package iso

import "github.com/prometheus/client_golang/prometheus"

// The results of rackboot_hub_iso_uploads_total.
const (
	endDone    = "done"
	endRefused = "refused"
	endExpired = "expired"
)

type metrics struct {
	shelf     *Shelf
	received  prometheus.Counter
	ended     *prometheus.CounterVec
	collected prometheus.Counter
	files     *prometheus.Desc
	open      *prometheus.Desc
}

func newMetrics(s *Shelf) *metrics {
	m := &metrics{
		shelf: s,
		received: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_hub_iso_received_bytes_total", Help: "Bytes of files that were uploaded, also of those that were refused.",
		}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_iso_uploads_total", Help: "Uploads that have ended, by result: done, refused or expired.",
		}, []string{"result"}),
		collected: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_hub_iso_collected_total", Help: "Contents of uploaded files that were removed because nothing named them.",
		}),
		files: prometheus.NewDesc("rackboot_hub_iso_files", "Uploaded files in the book.", nil, nil),
		open:  prometheus.NewDesc("rackboot_hub_iso_uploads_open", "Uploads that have not ended.", nil, nil),
	}
	for _, r := range []string{endDone, endRefused, endExpired} {
		m.ended.WithLabelValues(r)
	}
	return m
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	m.received.Describe(ch)
	m.ended.Describe(ch)
	m.collected.Describe(ch)
	ch <- m.files
	ch <- m.open
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	m.received.Collect(ch)
	m.ended.Collect(ch)
	m.collected.Collect(ch)
	ch <- prometheus.MustNewConstMetric(m.files, prometheus.GaugeValue, float64(len(m.shelf.cfg.Store.ISOs.List())))
	ch <- prometheus.MustNewConstMetric(m.open, prometheus.GaugeValue, float64(m.shelf.uploads.count()))
}
