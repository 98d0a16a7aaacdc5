package mirror

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot/guard"
)

type metrics struct {
	opens     *prometheus.CounterVec
	answers   *prometheus.CounterVec
	bytes     prometheus.Counter
	evictions prometheus.Counter
	gauges    guard.Collectors
}

func newMetrics(m *Mirror) (*metrics, error) {
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	out := &metrics{
		opens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_mirror_opens_total",
			Help: "Files of package repositories that were opened, by how they were found.",
		}, []string{"result"}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_mirror_answers_total",
			Help: "Questions to package repositories, by what became of them.",
		}, []string{"answer"}),
		bytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_mirror_received_bytes_total",
			Help: "Bytes of files that came from package repositories.",
		}),
		evictions: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_mirror_evictions_total",
			Help: "Files of package repositories that were removed to make room.",
		}),
		gauges: guard.Collectors{
			gauge("rackboot_mirror_used_bytes", "Size of what is kept of package repositories.", func() float64 { n, _ := m.store.usage(); return float64(n) }),
			gauge("rackboot_mirror_pinned_bytes", "Size of what is kept of package repositories and may not be removed.", func() float64 { _, n := m.store.usage(); return float64(n) }),
			gauge("rackboot_mirror_requests_waiting", "Requests to package repositories that wait for others to end.", func() float64 { return float64(m.slots.waiting.Load()) }),
			gauge("rackboot_mirror_requests_in_flight", "Requests to package repositories under way.", func() float64 { return float64(cap(m.slots.free) - len(m.slots.free)) }),
			gauge("rackboot_mirror_failing_bases", "Package repositories that do not answer.", func() float64 {
				n := 0.0
				for _, s := range m.sites {
					if s.failing() {
						n++
					}
				}
				return n
			}),
		},
	}
	return out, out.all().Register(m.cfg.Registerer)
}

func (x *metrics) all() guard.Collectors {
	return append(guard.Collectors{x.opens, x.answers, x.bytes, x.evictions}, x.gauges...)
}

func (x *metrics) unregister(r prometheus.Registerer) { x.all().Unregister(r) }
