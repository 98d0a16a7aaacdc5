package upgrades

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// resultUndone is of an order for which nothing was changed, and that is given anew.
const resultUndone = "Undone"

// counts are the metrics. Their series are bounded by the upgrades that there are.
type counts struct {
	phase, racks   *prometheus.Desc
	ordered, ended *prometheus.CounterVec
}

func newCounts() counts {
	c := counts{
		phase: prometheus.NewDesc("rackboot_hub_agent_upgrade_phase", "Always 1: how far the last roll-out of each AgentUpgrade has come.", []string{"upgrade", "phase"}, nil),
		racks: prometheus.NewDesc("rackboot_hub_agent_upgrade_racks", "Racks of the last roll-out of each AgentUpgrade, by state.", []string{"upgrade", "state"}, nil),
		ordered: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_agent_upgrade_orders_total", Help: "Orders to agents to run another release, by kind.",
		}, []string{"kind"}),
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_agent_upgrade_orders_ended_total", Help: "Such orders that have ended, by how: Done, Refused, Returned, or Undone if nothing was changed and it is given anew.",
		}, []string{"result"}),
	}
	for _, k := range []string{resource.AgentOrderUpgrade, resource.AgentOrderReturn} {
		c.ordered.WithLabelValues(k)
	}
	for _, s := range message.UpgradeStages() {
		if s.Ended() {
			c.ended.WithLabelValues(string(s))
		}
	}
	c.ended.WithLabelValues(resultUndone)
	return c
}

func (m counts) describe(ch chan<- *prometheus.Desc) {
	ch <- m.phase
	ch <- m.racks
	m.ordered.Describe(ch)
	m.ended.Describe(ch)
}

func (m counts) collect(ch chan<- prometheus.Metric, views map[string]view) {
	for name, v := range views {
		if v.rollout == nil {
			continue
		}
		ch <- prometheus.MustNewConstMetric(m.phase, prometheus.GaugeValue, 1, name, string(v.rollout.Phase))
		states := map[resource.MemberState]int{}
		for _, one := range v.rollout.Members {
			states[one.State]++
		}
		for _, s := range resource.MemberStates() {
			ch <- prometheus.MustNewConstMetric(m.racks, prometheus.GaugeValue, float64(states[s]), name, string(s))
		}
	}
	m.ordered.Collect(ch)
	m.ended.Collect(ch)
}
