package store

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// giveWayMax bounds how long a write gives way: what others do goes on, however many holds come.
const giveWayMax = 50 * time.Millisecond

// Haste has background work give way to what a hold waits for. Each write goes through many
// hands, in this process and in the server, and on a busy hub each of them stands in line for a
// processor; what gives way leaves processors and the store to those few.
type Haste struct {
	mu     sync.Mutex
	n      int           // who hurries
	none   chan struct{} // closed when nobody does any more
	waited time.Duration // of all that gave way
}

func gaveWay() *prometheus.Desc {
	return prometheus.NewDesc("rackboot_hub_gave_way_seconds_total", "How long background work has waited in all for what holds waited for.", nil, nil)
}

// Describe implements prometheus.Collector.
func (h *Haste) Describe(ch chan<- *prometheus.Desc) { ch <- gaveWay() }

// Collect implements prometheus.Collector.
func (h *Haste) Collect(ch chan<- prometheus.Metric) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ch <- prometheus.MustNewConstMetric(gaveWay(), prometheus.CounterValue, h.waited.Seconds())
}

// Hurry has background work give way until done is called, which is soon.
func (h *Haste) Hurry() (done func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n++; h.n == 1 {
		h.none = make(chan struct{})
	}
	return sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.n--; h.n == 0 {
			close(h.none)
		}
	})
}

type patient struct{}

// Patient is the context of background work: its writes give way to those who hurry.
func Patient(ctx context.Context) context.Context { return context.WithValue(ctx, patient{}, true) }

// Prompt is a context whose writes do not give way, for a part of background work that others may
// wait for.
func Prompt(ctx context.Context) context.Context { return context.WithValue(ctx, patient{}, false) }

// isPatient reports whether work is in the background.
func isPatient(ctx context.Context) bool {
	is, _ := ctx.Value(patient{}).(bool)
	return is
}

// GiveWay waits while somebody hurries, for a moment at most, where the work is in the background.
func (h *Haste) GiveWay(ctx context.Context) {
	if !isPatient(ctx) {
		return
	}
	h.mu.Lock()
	n, none := h.n, h.none
	h.mu.Unlock()
	if n == 0 {
		return
	}
	most, begun := time.NewTimer(giveWayMax), time.Now()
	defer func() {
		most.Stop()
		h.mu.Lock()
		defer h.mu.Unlock()
		h.waited += time.Since(begun)
	}()
	select {
	case <-none:
	case <-most.C:
	case <-ctx.Done():
	}
}
