package exporter

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/approvals"
	"rackboot/hub/claims"
	"rackboot/hub/fence"
	"rackboot/hub/inventory"
	"rackboot/hub/reports"
	"rackboot/hub/status"
	"rackboot/hub/store"
	"rackboot/hub/view"
	"rackboot/protocol/resource"
	"rackboot/state"
)

// Config is what a Room is made of.
type Config struct {
	Store     *store.Store
	Start     *fence.Start
	View      *view.Reader
	Status    *status.Room
	Reports   *reports.Mirror
	Inventory *inventory.Room
	Approvals *approvals.Room
	Claims    *claims.Room
	// Totals leaves out the series of single servers and claims.
	Totals bool
	Began  time.Time // when this hub was started

	Clock state.Clock
}

// Room has the rows of all servers, and the counts of boots. It is a [prometheus.Collector], and safe for
// concurrent use.
type Room struct {
	cfg      Config
	groups   []group
	boots    *boots
	receipts *receipts
	known    map[resource.ConditionCode]bool // an agent may say others, and labels are to be few

	// one is of a scrape: it makes rows.
	one  sync.Mutex
	kept map[string]*rackRows // by rack; empty is of servers in none
	last int                  // how many rows the last one had

	// mu is of what agents say, who do not wait for a scrape.
	mu   sync.Mutex
	news map[string]bool // racks that were heard of since their rows were made
}

// group is metrics that are collected together.
type group interface {
	descs() []*metric
	collect(s *scrape)
}

// New makes a Room.
func New(cfg Config) *Room {
	r := &Room{cfg: cfg, boots: newBoots(), receipts: newReceipts(), known: map[resource.ConditionCode]bool{}, kept: map[string]*rackRows{}, news: map[string]bool{}}
	for _, c := range resource.Conditions() {
		r.known[c.Code] = true
	}
	r.groups = []group{newHubGroup(), newServers(), newRacks(), newHolds(), newClaims()}
	if !cfg.Totals {
		r.groups = append(r.groups, newEachServer(), newEachClaim())
	}
	return r
}

// Told takes what is said of a server of a rack; news is that something differs in the rack.
func (r *Room) Told(rack string, s resource.ServerReport, news bool) {
	r.boots.told(s, r.cfg.Clock())
	r.fenced(s)
	if news {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.news[rack] = true
	}
}

// fenced measures the holds of a server whose receipts have come.
func (r *Room) fenced(s resource.ServerReport) {
	for _, hr := range s.Holds {
		if len(hr.Receipt) == 0 || r.receipts.measured(hr.ID) {
			continue
		}
		if stored, err := store.Peek[*resource.Hold](r.cfg.Store.Objects, hr.ID); err == nil {
			h := *stored
			r.cfg.Status.Decorate(&h)
			r.receipts.see(&h, r.cfg.Began)
		}
	}
}

// heard reports whether a rack was heard of since it was asked last.
func (r *Room) heard(rack string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	told := r.news[rack]
	delete(r.news, rack)
	return told
}

// Describe implements prometheus.Collector.
func (r *Room) Describe(ch chan<- *prometheus.Desc) {
	for _, g := range r.groups {
		for _, d := range g.descs() {
			ch <- d.Desc
		}
	}
	r.boots.describe(ch)
	r.receipts.describe(ch)
}

// Collect implements prometheus.Collector.
func (r *Room) Collect(ch chan<- prometheus.Metric) {
	s := r.look(ch)
	for _, g := range r.groups {
		g.collect(s)
	}
	r.receipts.keep(s.holds)
	r.boots.collect(ch)
	r.receipts.collect(ch)
}
