package watch

import (
	"github.com/prometheus/client_golang/prometheus"

	protoapi "rackboot/protocol/api"
)

// why is why a watch ended.
type why string

const (
	whyReader   why = "reader"   // it went, or its connection
	whyShutdown why = "shutdown" // of the hub
	whySlow     why = "slow"     // it took too long to read
	whyLong     why = "long"     // it had its time, and may go on
	whyCaller   why = "caller"   // who may not read any more
)

type metrics struct {
	made, refused prometheus.Counter
	lines, ended  *prometheus.CounterVec
	views         prometheus.GaugeFunc
}

func newMetrics(reg prometheus.Registerer, r *Room) metrics {
	m := metrics{
		made:    prometheus.NewCounter(prometheus.CounterOpts{Name: "rackboot_hub_watch_looks_total", Help: "Resources that were looked at for watches, and made into JSON."}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{Name: "rackboot_hub_watch_refused_total", Help: "Watches that were refused because there were too many, in all or of a caller."}),
		lines:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rackboot_hub_watch_events_total", Help: "Events that were written to watches, by type."}, []string{"type"}),
		ended:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "rackboot_hub_watch_ended_total", Help: "Watches that ended, by why: reader, shutdown, slow, long or caller."}, []string{"why"}),
	}
	m.views = prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "rackboot_hub_watch_views", Help: "Selections of fields that are compared for watches, by kind and fields; 16 at most, then watches are told of all changes."}, func() float64 {
		r.mu.Lock()
		defer r.mu.Unlock()
		n := 0
		for _, b := range r.boards {
			if !b.view.only.All() {
				n++
			}
		}
		return float64(n)
	})
	for _, w := range protoapi.WatchWords() {
		m.lines.WithLabelValues(string(w))
	}
	for _, w := range []why{whyReader, whyShutdown, whySlow, whyLong, whyCaller} {
		m.ended.WithLabelValues(string(w))
	}
	reg.MustRegister(m.made, m.refused, m.lines, m.ended, m.views,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "rackboot_hub_watches", Help: "Watches that are open."}, func() float64 {
			r.mu.Lock()
			defer r.mu.Unlock()
			return float64(len(r.open))
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "rackboot_hub_watch_queue_most", Help: "Resources in the longest queue of a watch, whose newest state was not taken yet."}, func() float64 {
			r.mu.Lock()
			defer r.mu.Unlock()
			most := 0
			for w := range r.open {
				most = max(most, w.queue.len())
			}
			return float64(most)
		}))
	return m
}
