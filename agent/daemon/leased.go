package daemon

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/internal/metrics"
)

// leased registers metrics until it ends: an agent that is made anew has its own.
type leased struct {
	metrics.Registry
	mu  sync.Mutex
	all []prometheus.Collector
}

func newLeased(reg metrics.Registry) *leased { return &leased{Registry: reg} }

// Register implements prometheus.Registerer.
func (l *leased) Register(c prometheus.Collector) error {
	if err := l.Registry.Register(c); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, c)
	return nil
}

// MustRegister implements prometheus.Registerer.
func (l *leased) MustRegister(all ...prometheus.Collector) {
	for _, c := range all {
		if err := l.Register(c); err != nil {
			panic(err)
		}
	}
}

// end takes what was registered out again.
func (l *leased) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.all {
		l.Unregister(c)
	}
	l.all = nil
}
