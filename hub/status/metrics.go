package status

import (
	"cmp"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/inventory"
	"rackboot/hub/plan"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// metrics are computed from store and mirror when they are scraped.
type metrics struct {
	room                              *Room
	state, servers, power, holds, age *prometheus.Desc
	conditions, agents, open, fenced  *prometheus.Desc
	bmcs, asks, left, approvals       *prometheus.Desc
	maintenances                      *prometheus.Desc
	clocks                            *prometheus.Desc
	holdMetrics
	evidence evidenceMetrics
}

func newMetrics(c *Room) *metrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("rackboot_"+name, help, labels, nil)
	}
	m := &metrics{
		room: c, holdMetrics: newHoldMetrics(), evidence: newEvidenceMetrics(),
		fenced:       desc("hub_fenced", "1 if another hub has taken over and this one has stepped down."),
		clocks:       desc("hub_agents_clock_off", "Agents that report, by whose clock is wrong as the hub sees it: none, agent-behind, agent-ahead, hub-behind, hub-ahead or unsure.", "who"),
		left:         desc("hub_bmcs_left_out", "BMCs that were found and left out, because too many of the rack wait to be accepted.", "rack"),
		bmcs:         desc("bmcs", "BMCs by rack and state.", "rack", "state"),
		approvals:    desc("hub_approvals", "Approvals of destructive actions, by state.", "state"),
		maintenances: desc("hub_maintenances", "Maintenances by state.", "state"),
		state:        desc("server_state", "Always 1: the present state of each server.", "rack", "server", "phase", "power", "attempt", "intended", "observed"),
		servers:      desc("servers", "Servers by rack and phase.", "rack", "phase"),
		power:        desc("servers_power", "Servers by rack and power state.", "rack", "power"),
		holds:        desc("holds", "Holds by rack and word.", "rack", "word"),
		age:          desc("agent_last_report_timestamp_seconds", "When the hub got the last report of each agent.", "agent"),
		conditions:   desc("conditions", "Conditions of servers that are so, by rack and code.", "rack", "code"),
	}
	return m
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.state, m.servers, m.power, m.holds, m.age, m.conditions, m.fenced, m.bmcs, m.left, m.clocks, m.approvals, m.maintenances} {
		ch <- d
	}
	m.describe(ch)
	m.evidence.describe(ch)
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	fenced := 0.0
	if m.room.cfg.Start.Replaced() {
		fenced = 1
	}
	gauge(m.fenced, fenced)
	type key struct{ rack, word string }
	f := m.room.cfg.View.Site()
	states := map[key]int{}
	for _, b := range f.BMCs {
		states[key{b.Spec.RackRef.Name, string(inventory.StateOf(b))}]++
	}
	phases, powers, words, conds := map[key]int{}, map[key]int{}, map[key]int{}, map[key]int{}
	for _, s := range f.Servers {
		name, rack := s.Metadata.Name, f.RackOf(s.Metadata.Name)
		in := plan.Intent(f, s)
		r := f.Reports[name]
		phase, power, attempt := decide.Phase(&in, r), protocol.PowerUnknown, resource.AttemptReport{}
		if r != nil {
			power = r.Observation.Power
			if r.Attempt != nil {
				attempt = *r.Attempt
			}
			for _, c := range r.Conditions {
				conds[key{rack, string(c.Code)}]++
			}
		}
		if in.Discovery == resource.DiscoveryFailed {
			conds[key{rack, string(resource.CondDiscoveryFailed)}]++
		}
		phases[key{rack, string(phase)}]++
		powers[key{rack, string(power)}]++
		gauge(m.state, 1, rack, name, string(phase), string(power), string(attempt.State), string(attempt.Intended), string(attempt.Observed))
	}
	for i, stored := range f.Holds {
		h := *stored // its status is filled in, and what is listed is everybody's
		m.room.decorateHold(&h)
		f.Holds[i] = &h
		words[key{f.RackOf(h.Spec.Server), string(h.Status.Word)}]++
	}
	m.collect(f, ch)
	m.collectReads(m.room, f, ch)
	m.evidence.collect(f, ch)
	for _, r := range f.Racks {
		rack := r.Metadata.Name
		for _, p := range resource.Phases() {
			gauge(m.servers, float64(phases[key{rack, string(p)}]), rack, string(p))
		}
		for _, p := range protocol.PowerStates() {
			gauge(m.power, float64(powers[key{rack, string(p)}]), rack, string(p))
		}
		for _, w := range []resource.HoldWord{resource.HoldAccepted, resource.HoldEnforced, resource.HoldFenced, resource.HoldReleased} {
			gauge(m.holds, float64(words[key{rack, string(w)}]), rack, string(w))
		}
		gauge(m.left, float64(m.room.cfg.Inventory.LeftOut(rack)), rack)
		for _, s := range resource.BMCStates() {
			gauge(m.bmcs, float64(states[key{rack, string(s)}]), rack, string(s))
		}
		for _, c := range resource.Conditions() {
			if n := conds[key{rack, string(c.Code)}]; n > 0 {
				gauge(m.conditions, float64(n), rack, string(c.Code))
			}
		}
		if _, got, ok := m.room.cfg.Reports.Agent(r.Status.Agent); ok {
			gauge(m.age, float64(got.UnixMilli())/1000, r.Status.Agent)
		}
	}
	m.collectClocks(ch)
	maintenances := map[resource.MaintenanceState]int{}
	for _, one := range f.Maintenances {
		maintenances[cmp.Or(one.Status.State, resource.MaintenanceQueued)]++
	}
	for _, s := range resource.MaintenanceStates() {
		gauge(m.maintenances, float64(maintenances[s]), string(s))
	}
	approvals := map[resource.ApprovalState]int{}
	for _, r := range m.room.cfg.Approvals.List() {
		approvals[r.State]++
	}
	for _, s := range resource.ApprovalStates() {
		gauge(m.approvals, float64(approvals[s]), string(s))
	}
}
