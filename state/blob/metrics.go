package blob

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	writes  *prometheus.CounterVec
	evicted prometheus.Counter
	damaged prometheus.Counter
}

func newMetrics(reg prometheus.Registerer, s *Store) (*metrics, error) {
	m := &metrics{
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_blob_writes_total",
			Help: "Blobs written, by result: ok or an error code.",
		}, []string{"result"}),
		evicted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_blob_evictions_total",
			Help: "Blobs removed to make room.",
		}),
		damaged: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_blob_damaged_parts_total",
			Help: "Parts of blobs that were found damaged and written anew.",
		}),
	}
	if reg == nil {
		return m, nil
	}
	used := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rackboot_blob_used_bytes",
		Help: "Size of all blobs.",
	}, func() float64 { n, _ := s.usage(); return float64(n) })
	pinned := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rackboot_blob_pinned_bytes",
		Help: "Size of the blobs that may not be removed.",
	}, func() float64 { _, n := s.usage(); return float64(n) })
	parted := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rackboot_blob_part_bytes",
		Help: "Size of what is there of blobs that are not complete.",
	}, func() float64 { s.mu.Lock(); defer s.mu.Unlock(); return float64(s.room.parted) })
	for _, c := range []prometheus.Collector{m.writes, m.evicted, m.damaged, used, pinned, parted} {
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
	for name := range s.room.pins {
		if e := s.room.blobs[name]; e != nil {
			pinned += e.size
		}
	}
	return s.room.used, pinned
}
