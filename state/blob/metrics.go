package blob

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	writes  *prometheus.CounterVec
	evicted prometheus.Counter
}

func newMetrics(reg prometheus.Registerer, usage func() (used, pinned int64)) (*metrics, error) {
	m := &metrics{
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_blob_writes_total",
			Help: "Blobs written, by result: ok or an error code.",
		}, []string{"result"}),
		evicted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_blob_evictions_total",
			Help: "Blobs removed to make room.",
		}),
	}
	if reg == nil {
		return m, nil
	}
	used := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rackboot_blob_used_bytes",
		Help: "Size of all blobs.",
	}, func() float64 { n, _ := usage(); return float64(n) })
	pinned := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rackboot_blob_pinned_bytes",
		Help: "Size of the blobs that may not be removed.",
	}, func() float64 { _, n := usage(); return float64(n) })
	for _, c := range []prometheus.Collector{m.writes, m.evicted, used, pinned} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// usage counts for the metrics, in bytes.
func (s *Store) usage() (used, pinned int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.pins {
		if e := s.blobs[name]; e != nil {
			pinned += e.size
		}
	}
	return s.used, pinned
}
