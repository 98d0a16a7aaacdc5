package exporter

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/reports"
	"rackboot/hub/status"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// scrape is the fleet as one scrape shows it.
type scrape struct {
	room  *Room
	now   time.Time
	racks []*resource.Rack
	rows  []seen
	ends  []int                       // where in rows those of each rack end
	bmcs  []map[resource.BMCState]int // of each rack, shared
	heard []reports.Heard             // room for what is heard of one rack
	holds []*resource.Hold            // with their status
	page  page
	ch    chan<- prometheus.Metric
}

// seen is a row, and what time has made of it.
type seen struct {
	*row
	rack   string
	report *resource.ServerReport // the newest; nil without one
	read   status.Read
	stale  bool
	dark   bool
}

// power is what is known of the power now.
func (s seen) power() protocol.PowerState {
	if s.stale || s.dark {
		return protocol.PowerUnknown
	}
	return s.row.power
}

// now are the codes of its conditions, with those that time alone makes.
func (s seen) now() []resource.ConditionCode {
	if !s.stale && !s.dark {
		return s.codes
	}
	out := slices.Clip(s.codes)
	if s.stale {
		out = append(out, resource.CondStale)
	}
	if s.dark {
		out = append(out, resource.CondDark)
	}
	return out
}

// of are the rows of a rack.
func (s *scrape) of(rack int) []seen {
	from := 0
	if rack > 0 {
		from = s.ends[rack-1]
	}
	return s.rows[from:s.ends[rack]]
}

// rackOf says in which rack each of some servers is, if it is at the hub.
func (s *scrape) rackOf(servers map[string]bool) map[string]string {
	out := make(map[string]string, len(servers))
	if len(servers) == 0 {
		return out
	}
	for _, one := range s.rows {
		if servers[one.server] {
			out[one.server] = one.rack
		}
	}
	return out
}

// gauge sends one series.
func (s *scrape) gauge(m *metric, v float64, labels ...string) { s.ch <- s.page.put(m, v, labels) }

// at sends one series that is a time, in seconds since 1970; the zero time is 0.
func (s *scrape) at(m *metric, t time.Time, labels ...string) {
	v := 0.0
	if !t.IsZero() {
		v = float64(t.UnixMilli()) / 1000
	}
	s.gauge(m, v, labels...)
}

// look makes the rows that are due, and says what time has made of all.
func (r *Room) look(ch chan<- prometheus.Metric) *scrape {
	r.one.Lock()
	defer r.one.Unlock()
	objs := r.cfg.Store.Objects
	s := &scrape{room: r, now: r.cfg.Clock(), racks: store.List[*resource.Rack](objs), ch: ch}
	s.rows = make([]seen, 0, r.last)
	there := map[string]bool{inNone: true}
	for _, rack := range s.racks {
		there[rack.Metadata.Name] = true
		s.add(rack.Metadata.Name, rack.Spec.PollInterval.D(), rack.Status.Agent)
		s.ends = append(s.ends, len(s.rows))
	}
	s.add(inNone, 0, "")
	r.last = len(s.rows)
	for rack := range r.kept {
		if !there[rack] {
			delete(r.kept, rack)
		}
	}
	for _, stored := range store.List[*resource.Hold](objs) {
		h := *stored
		r.cfg.Status.Decorate(&h)
		s.holds = append(s.holds, &h)
	}
	return s
}

// add appends the rows of a rack.
func (s *scrape) add(rack string, poll time.Duration, agent string) {
	r := s.room
	_, heard, there := r.cfg.Reports.Agent(agent)
	silent := agent != "" && (!there || s.now.Sub(heard) > reports.DarkAfter)
	k := r.rowsOf(rack, silent, s.now)
	s.bmcs = append(s.bmcs, k.bmcs)
	s.heard = r.cfg.Reports.Heard(k.names, s.heard[:0])
	for i, h := range s.heard {
		one := seen{row: k.rows[i], rack: rack, report: h.Report, read: r.cfg.Status.ReadAt(h.Read, poll, s.now)}
		one.stale = h.Report != nil && one.read.Stale()
		one.dark = agent != "" && (h.Report == nil || s.now.Sub(h.At) > reports.DarkAfter)
		s.rows = append(s.rows, one)
	}
}
