package badger

import (
	"fmt"
	"log/slog"

	"github.com/dgraph-io/badger/v4"
	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	commit prometheus.Histogram
	group  prometheus.Histogram
}

func newMetrics(reg prometheus.Registerer, queued func() int) (*metrics, error) {
	m := &metrics{
		commit: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "rackboot_store_commit_seconds",
			Help:    "Time to write one transaction to disk.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 8), // 0.1 ms to 1.6 s
		}),
		group: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "rackboot_store_batch_group_calls",
			Help:    "Batch calls that shared one transaction.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 9), // 1 to maxGroup
		}),
	}
	if reg == nil {
		return m, nil
	}
	waiting := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rackboot_store_batch_queue_calls",
		Help: "Batch calls that wait for the committer.",
	}, func() float64 { return float64(queued()) })
	for _, c := range []prometheus.Collector{m.commit, m.group, waiting} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics of the store: %w", err)
		}
	}
	return m, nil
}

// logger passes Badger's messages on. Its Info is about tables and
// compactions, which nobody asks for unless debugging.
type logger struct{ l *slog.Logger }

var _ badger.Logger = logger{}

func (l logger) Errorf(f string, a ...any) { l.l.Error("badger", "detail", fmt.Sprintf(f, a...)) }

func (l logger) Warningf(f string, a ...any) { l.l.Warn("badger", "detail", fmt.Sprintf(f, a...)) }

func (l logger) Infof(f string, a ...any) { l.l.Debug("badger", "detail", fmt.Sprintf(f, a...)) }

func (l logger) Debugf(string, ...any) {}
