package server

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/inrush"
	"rackboot/agent/store"
	"rackboot/protocol/decide"
)

// places is the line in which the rack's servers are switched on, by its inrush limit. It is safe for concurrent use,
// and nothing in it waits: who is given a place is poked.
type places struct {
	mu     sync.Mutex
	line   inrush.Line
	limit  inrush.Limit        // of the newest document of the rack that was read
	feeds  map[string]string   // by server
	by     map[string]*signals // of those that wait
	waited prometheus.Histogram
}

func newPlaces(reg prometheus.Registerer) *places {
	p := &places{by: map[string]*signals{}, feeds: map[string]string{}, waited: prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "rackboot_agent_inrush_wait_seconds", Help: "How long each server waited for its turn to be switched on, by the rack's inrush limit, from asking to having it.",
		Buckets: []float64{0.1, 1, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600},
	})}
	reg.MustRegister(p.waited, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rackboot_agent_inrush_waiting_servers", Help: "Servers that wait for their turn to be switched on, by the rack's inrush limit.",
	}, func() float64 {
		p.mu.Lock()
		defer p.mu.Unlock()
		return float64(p.line.Waiting())
	}))
	return p
}

// heed takes over what the rack's document says of its limit, and of the server's feed. It is from a view that could be
// read: one that could not must not look like a rack without a limit.
func (p *places) heed(now time.Time, v store.View) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line.Open(now)
	p.limit = inrush.LimitOf(v.Rack.Inrush)
	if feed := v.Intent.Feed; feed != "" {
		p.feeds[v.Intent.Server] = feed
	} else {
		delete(p.feeds, v.Intent.Server)
	}
}

// rest closes the line: another agent may serve the rack, and what it orders is not known.
func (p *places) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line.Close()
}

// of is where a server stands.
func (p *places) of(now time.Time, server string) decide.Place {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.line.Place(now, p.limit, server)
}

// ask says what a server needs, and returns when to look again; zero where nothing is waited for.
func (p *places) ask(now time.Time, s *signals, need decide.PlaceNeed) (until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.by[s.server] = s
	for _, g := range p.line.Ask(now, p.limit, s.server, p.feeds[s.server], need) {
		if p.limit.Bounds() {
			p.waited.Observe(g.Waited.Seconds())
		}
		if to := p.by[g.Server]; to != nil {
			to.poke()
		}
	}
	place := p.line.Place(now, p.limit, s.server)
	if place.Until.IsZero() {
		delete(p.by, s.server)
	}
	return place.Until
}

// order takes note of an On that is about to be sent, and reports whether it may be.
func (p *places) order(now time.Time, server string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.line.Order(now, p.limit, server, p.feeds[server])
}

// answered takes note of the answer to it.
func (p *places) answered(now time.Time, server string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line.Answered(now, server)
}
