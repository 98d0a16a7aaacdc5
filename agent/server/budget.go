package server

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
)

// Reads of a BMC that boot clients cause: so many at once, and then one each evidenceEvery,
// whatever they do and however many systems it has.
const (
	evidenceEvery = 5 * time.Second
	evidenceBurst = 4
	maxBudgets    = 4096 // BMCs whose budget is remembered
)

// budget bounds the reads of each BMC that evidence asks for. It is safe for concurrent use.
type budget struct {
	mu sync.Mutex
	by map[string]*rate.Limiter // by host
}

// take takes a read of the budget, or returns how long until there is one.
func (b *budget) take(host string, now time.Time) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.by[host]
	if l == nil {
		if b.by == nil || len(b.by) >= maxBudgets { // those that are forgotten begin with a burst
			b.by = map[string]*rate.Limiter{}
		}
		l = rate.NewLimiter(rate.Every(evidenceEvery), evidenceBurst)
		b.by[host] = l
	}
	r := l.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// What evidence asked for, as metrics name it.
const (
	wakeRead  = "read"  // the BMC is read now
	wakeLater = "later" // with the next read, or when the budget allows one
	wakeNone  = "none"  // it changed nothing
)

func newWakes() *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_agent_evidence_wakes_total", Help: "Evidence of boot clients, as often as it was looked at, by the read of the BMC that it asked for.",
	}, []string{"read"})
	for _, r := range []string{wakeRead, wakeLater, wakeNone} {
		v.WithLabelValues(r)
	}
	return v
}
