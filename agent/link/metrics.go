package link

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol/decide"
)

// metrics count what is said and heard. It is a prometheus.Collector of what is so now.
type metrics struct {
	room              *Room
	hellos            prometheus.Counter
	syncs, refused    *prometheus.CounterVec
	verified, waiting *prometheus.Desc
}

func newMetrics(r *Room) *metrics {
	m := &metrics{
		room:     r,
		verified: prometheus.NewDesc("rackboot_agent_hub_verified", "1 while the hub's word is fresh.", nil, nil),
		waiting:  prometheus.NewDesc("rackboot_agent_events_waiting", "Events by number that the hub has not acknowledged, lost ones included.", nil, nil),
		hellos: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_agent_hellos_total", Help: "Hellos said to the hub.",
		}),
		syncs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_agent_syncs_total", Help: "Words of the hub, by what was made of them.",
		}, []string{"action"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_agent_messages_refused_total", Help: "Messages that did not verify, by reason.",
		}, []string{"reason"}),
	}
	for _, act := range decide.SyncActions() {
		m.syncs.WithLabelValues(string(act))
	}
	for _, why := range refusalReasons {
		m.refused.WithLabelValues(string(why))
	}
	r.cfg.Registerer.MustRegister(m, m.hellos, m.syncs, m.refused)
	return m
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.verified
	ch <- m.waiting
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	verified := 0.0
	if fresh, _ := m.room.clock.fresh(); fresh {
		verified = 1
	}
	gauge(m.verified, verified)
	if b, err := m.room.cfg.Store.Events.Backlog(0); err == nil && b.Tail > 0 {
		gauge(m.waiting, float64(b.Head-b.Tail+1))
	} else if err == nil {
		gauge(m.waiting, 0)
	}
}

var _ prometheus.Collector = (*metrics)(nil)
