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
	holds []*resource.Hold // with their status
	ch    chan<- prometheus.Metric
}

// seen is a row, and what time has made of it.
type seen struct {
	*row
	rack  string
	read  status.Read
	stale bool
	dark  bool
}

// power is what is known of the power now.
func (s seen) power() protocol.PowerState {
	if s.stale || s.dark {
		return protocol.PowerUnknown
	}
	return s.row.power
}

// codes are the codes of its conditions now.
func (s seen) codes() []resource.ConditionCode {
	out := slices.Clip(s.row.codes)
	if s.stale {
		out = append(out, resource.CondStale)
	}
	if s.dark {
		out = append(out, resource.CondDark)
	}
	return out
}

// gauge sends one series.
func (s *scrape) gauge(d *prometheus.Desc, v float64, labels ...string) {
	s.ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

// at sends one series that is a time, in seconds since 1970; the zero time is 0.
func (s *scrape) at(d *prometheus.Desc, t time.Time, labels ...string) {
	v := 0.0
	if !t.IsZero() {
		v = float64(t.UnixMilli()) / 1000
	}
	s.gauge(d, v, labels...)
}

// look makes the rows that are due, and says what time has made of all.
func (r *Room) look(ch chan<- prometheus.Metric) *scrape {
	r.one.Lock()
	defer r.one.Unlock()
	objs := r.cfg.Store.Objects
	s := &scrape{room: r, now: r.cfg.Clock(), racks: store.List[*resource.Rack](objs), ch: ch}
	there := map[string]bool{inNone: true}
	for _, rack := range s.racks {
		there[rack.Metadata.Name] = true
		s.add(rack.Metadata.Name, rack.Spec.PollInterval.D(), rack.Status.Agent)
	}
	s.add(inNone, 0, "")
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
	for _, row := range r.rowsOf(rack, silent, s.now) {
		one := seen{row: row, rack: rack, read: r.cfg.Status.Read(row.server, poll)}
		report, at := r.cfg.Reports.Server(row.server)
		one.stale = report != nil && one.read.Stale()
		one.dark = agent != "" && (report == nil || s.now.Sub(at) > reports.DarkAfter)
		s.rows = append(s.rows, one)
	}
}
