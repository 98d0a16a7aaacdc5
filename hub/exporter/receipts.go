package exporter

import (
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol/resource"
)

// receipts measures how long holds take to be fenced. A hold counts once, if it was accepted in this run of the hub;
// its receipt says when its server was proved off.
type receipts struct {
	times *prometheus.HistogramVec

	mu   sync.Mutex
	done map[string]bool // holds that are stored and were measured
}

func newReceipts() *receipts {
	r := &receipts{
		times: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "rackboot_hub_hold_fenced_seconds", Help: "Time from the acceptance of a hold until its server was proved off, by mode.",
			Buckets: []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800},
		}, []string{"mode"}),
		done: map[string]bool{},
	}
	r.times.WithLabelValues(string(resource.StopSoft))
	r.times.WithLabelValues(string(resource.StopHard))
	return r
}

// measured reports whether a hold was.
func (r *receipts) measured(hold string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done[hold]
}

// see takes a hold with its status.
func (r *receipts) see(h *resource.Hold, began time.Time) {
	took, fenced := fencedIn(h, began)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !fenced || r.done[h.Metadata.Name] {
		return
	}
	r.done[h.Metadata.Name] = true
	r.times.WithLabelValues(string(h.Spec.Mode)).Observe(took.Seconds())
}

// keep forgets the holds that are not stored any more.
func (r *receipts) keep(holds []*resource.Hold) {
	there := make(map[string]bool, len(holds))
	for _, h := range holds {
		there[h.Metadata.Name] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.done, func(id string, _ bool) bool { return !there[id] })
}

// fencedIn is how long a hold took that was accepted since began; false where it has no receipt that counts.
func fencedIn(h *resource.Hold, began time.Time) (time.Duration, bool) {
	rec, at := h.Status.Receipt, h.Metadata.CreatedAt
	if rec == nil || rec.Manual != nil || at == nil || at.Before(began) || h.Status.State != resource.StateFenced {
		return 0, false
	}
	return max(0, rec.ConfirmedAt.Sub(*at)), true
}

func (r *receipts) describe(ch chan<- *prometheus.Desc) { r.times.Describe(ch) }

func (r *receipts) collect(ch chan<- prometheus.Metric) { r.times.Collect(ch) }
