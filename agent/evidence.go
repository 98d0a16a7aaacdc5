package agent

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"rackboot/protocol/decide"
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

// stir makes the loop look at evidence.
func (s *server) stir() { wake(s.stirred) }

// heed folds the evidence that waits into the record, and says how long until the BMC is to
// be read because of it; never is negative.
func (s *server) heed() time.Duration {
	moved := s.moved.Swap(false)
	s.mu.Lock()
	waits := len(s.events) > 0
	s.mu.Unlock()
	if waits {
		m, err := s.passive()
		if err != nil {
			return 0 // the turn says so
		}
		moved = moved || m
	}
	if !moved {
		s.agent.met.wakes.WithLabelValues(wakeNone).Inc()
		return never
	}
	host := ""
	if h := s.host.Load(); h != nil {
		host = *h
	}
	wait := s.agent.reads.take(host, s.agent.cfg.Clock())
	if wait > 0 {
		s.agent.met.wakes.WithLabelValues(wakeLater).Inc()
		return wait
	}
	s.agent.met.wakes.WithLabelValues(wakeRead).Inc()
	return 0
}

// never is no time at which something is due.
const never time.Duration = -1

// passive folds what waits without a read, and says whether it changed anything.
func (s *server) passive() (moved bool, err error) {
	var was decide.Watch
	plan, err := s.step(func(snap *decide.Snapshot) {
		snap.Passive = true
		was = snap.Watch
	})
	return err == nil && decide.Stirs(plan, was), err
}
