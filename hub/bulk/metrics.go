package bulk

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/store"
	"rackboot/protocol/api"
)

func newItems(r prometheus.Registerer) *prometheus.CounterVec {
	items := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_hub_bulk_items_total", Help: "Names of bulk operations that were tried, by outcome: done or failed.",
	}, []string{"outcome"})
	for _, o := range []api.BulkOutcome{api.BulkItemDone, api.BulkItemFailed} {
		items.WithLabelValues(string(o))
	}
	r.MustRegister(items)
	return items
}

func (r *Room) count(round []*store.BulkItem) {
	for _, it := range round {
		outcome := api.BulkItemFailed
		if it.Done {
			outcome = api.BulkItemDone
		}
		r.items.WithLabelValues(string(outcome)).Inc()
	}
}

// gauge counts the operations in a state.
func (r *Room) gauge(s api.BulkState) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rackboot_hub_bulk_operations", Help: "Bulk operations that are kept, by state.",
		ConstLabels: prometheus.Labels{"state": string(s)},
	}, func() float64 {
		n := 0
		for _, b := range r.cfg.Bulks.List() {
			if headState(b) == s {
				n++
			}
		}
		return float64(n)
	})
}

// headState is where an operation is, as its head alone says: a cancelled one of which each was tried is Cancelled here.
func headState(b store.StoredBulk) api.BulkState {
	return stateOf(b.EndedAt != nil, b.Stopped, b.CancelledBy != "", false)
}
