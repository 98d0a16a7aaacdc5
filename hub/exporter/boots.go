package exporter

import (
	"cmp"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// boots counts attempts that this hub heard end, each once. One of which it heard nothing while it was open, because
// the hub or the link was down, is not counted here: the agents' own counters have all.
type boots struct {
	ends  *prometheus.CounterVec
	times *prometheus.HistogramVec

	mu   sync.Mutex
	open map[string]opened // by server
}

// opened is an attempt that was heard of before it ended.
type opened struct {
	id string
	at time.Time // by the hub's clock
}

func newBoots() *boots {
	b := &boots{
		ends: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_boots_total", Help: "Boots that the hub heard end, by outcome, method and code; the method is what firmware did, else what was ordered, and the code is empty of those that succeeded.",
		}, []string{"outcome", "method", "code"}),
		times: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "rackboot_hub_boot_seconds", Help: "Time from the first word of a boot until the hub heard that it succeeded.",
			Buckets: []float64{30, 60, 120, 300, 600, 1200, 1800, 3600, 7200},
		}, []string{"method"}),
		open: map[string]opened{},
	}
	// All are there from the start, so that the first of each is an increase.
	for _, method := range []protocol.BootTarget{protocol.TargetHdd, protocol.TargetPxe, protocol.TargetUefiHTTP, protocol.TargetCd} {
		b.times.WithLabelValues(string(method))
		b.ends.WithLabelValues(string(resource.AttemptSucceeded), string(method), "")
		for _, f := range resource.AttemptFailures() {
			b.ends.WithLabelValues(string(resource.AttemptFailed), string(method), string(f.Code))
		}
	}
	return b
}

// told takes what was said of a server.
func (b *boots) told(s resource.ServerReport, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	was, known := b.open[s.Server]
	a := s.Attempt
	switch {
	case a == nil:
		delete(b.open, s.Server)
	case !ended(a.State):
		if was.id != a.ID {
			b.open[s.Server] = opened{a.ID, now}
		}
	case known && was.id == a.ID:
		delete(b.open, s.Server)
		method := string(cmp.Or(a.Observed, a.Intended))
		b.ends.WithLabelValues(string(a.State), method, string(a.Code)).Inc()
		if a.State == resource.AttemptSucceeded {
			b.times.WithLabelValues(method).Observe(now.Sub(was.at).Seconds())
		}
	}
}

func (b *boots) describe(ch chan<- *prometheus.Desc) {
	b.ends.Describe(ch)
	b.times.Describe(ch)
}

func (b *boots) collect(ch chan<- prometheus.Metric) {
	b.ends.Collect(ch)
	b.times.Collect(ch)
}
