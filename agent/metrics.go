package agent

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/reports"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// metrics are computed from the last reports when they are scraped.
type metrics struct {
	opened                  *prometheus.CounterVec
	approvals               *prometheus.CounterVec
	reports                 *reports.Room
	guards                  func() bool
	ages                    *ages
	info, phase, held, cond *prometheus.Desc
	age, epoch              *prometheus.Desc
	oldest, unread, stale   *prometheus.Desc
	guard, standby          *prometheus.Desc
}

func newMetrics(reg prometheus.Registerer, all *reports.Room, ages *ages, guards func() bool) *metrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("rackboot_agent_"+name, help, labels, nil)
	}
	m := &metrics{
		reports: all, ages: ages, guards: guards,
		info:  desc("server_state", "Always 1: the present state of each server.", "server", "phase", "power", "attempt", "intended", "observed"),
		phase: desc("servers", "Servers by power state.", "power"),
		held:  desc("holds", "Holds by state.", "state"),
		cond:  desc("conditions", "Conditions that are so, by code.", "code"),
		age:   desc("observation_timestamp_seconds", "When each server was last read.", "server"),
		epoch: desc("power_ons", "Power-ons of each server since it is known.", "server"),

		oldest:  desc("oldest_hold_age_seconds", "How long the oldest hold lies, by mode; 0 without one.", "mode"),
		standby: desc("standby", "1 while the agent stands by for the one that serves the rack, else 0."),
		stale:   desc("stale_servers", "Servers whose last recorded read is older than three polls."),
		guard:   desc("guard_mode", "1 while the agent has no store that it can write to, and only guards what is held."),
		unread:  desc("oldest_observation_age_seconds", "How long ago the server was last read whose last read is the oldest."),
	}
	m.approvals = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_agent_approvals_refused_total", Help: "Approvals in hold documents that were not taken, by why.",
	}, []string{"reason"})
	for _, why := range approvalReasons {
		m.approvals.WithLabelValues(why)
	}
	m.opened = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_agent_secrets_opened_total", Help: "Sealed credentials of documents, by whether they could be opened.",
	}, []string{"result"})
	for _, r := range []string{openDone, openRefused} {
		m.opened.WithLabelValues(r)
	}
	reg.MustRegister(m, m.approvals, m.opened)
	return m
}

func oneIf(so bool) float64 {
	if so {
		return 1
	}
	return 0
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.info, m.phase, m.held, m.cond, m.age, m.epoch, m.oldest, m.unread, m.stale, m.guard, m.standby} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	servers, conds := m.reports.Snapshot()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	power, codes := map[protocol.PowerState]int{}, map[resource.ConditionCode]int{}
	for _, c := range conds {
		codes[c.Code]++
	}
	for _, s := range servers {
		power[s.Observation.Power]++
		var attempt resource.AttemptReport
		if s.Attempt != nil {
			attempt = *s.Attempt
		}
		gauge(m.info, 1, s.Server, string(m.reports.Phase(s.Server)), string(s.Observation.Power), string(attempt.State), string(attempt.Intended), string(attempt.Observed))
		if !s.Observation.ReadAt.IsZero() {
			gauge(m.age, float64(s.Observation.ReadAt.UnixMilli())/1000, s.Server)
		}
		gauge(m.epoch, float64(s.PowerEpoch), s.Server)
		for _, c := range s.Conditions {
			codes[c.Code]++
		}
	}
	for _, p := range protocol.PowerStates() {
		gauge(m.phase, float64(power[p]), string(p))
	}
	m.collectHolds(servers, gauge)
	gauge(m.guard, oneIf(m.guards()))
	gauge(m.standby, oneIf(m.ages.servers.StandsBy()))
	for _, c := range resource.Conditions() {
		gauge(m.cond, float64(codes[c.Code]), string(c.Code))
	}
}
