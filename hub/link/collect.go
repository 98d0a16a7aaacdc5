package link

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/reports"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// Describe implements prometheus.Collector.
func (c *Room) Describe(ch chan<- *prometheus.Desc) {
	m := c.metrics
	ch <- m.agents
	ch <- m.open
	ch <- m.asks
	ch <- m.guard
	ch <- m.copied
	m.refused.Describe(ch)
	m.sent.Describe(ch)
	m.answers.Describe(ch)
	m.late.Describe(ch)
}

// Collect implements prometheus.Collector.
func (c *Room) Collect(ch chan<- prometheus.Metric) {
	m := c.metrics
	m.refused.Collect(ch)
	m.sent.Collect(ch)
	m.answers.Collect(ch)
	m.late.Collect(ch)
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	byStage, open := map[stage]int{}, 0
	for _, r := range store.List[*resource.Rack](c.cfg.Store.Objects) {
		if r.Status.Agent != "" {
			k := c.contacts.see(r.Status.Agent)
			byStage[c.stageOf(r.Status.Agent, k.progress.stage)]++
			open += len(k.sent.open)
			gauge(m.guard, oneIf(k.guarding.known()), r.Metadata.Name)
			gauge(m.copied, oneIf(notAlone(c.cfg, r.Status.Agent)), r.Metadata.Name)
		}
	}
	for _, s := range stages {
		gauge(m.agents, float64(byStage[s]), string(s))
	}
	gauge(m.open, float64(open))
	gauge(m.asks, float64(c.asks.open()))
}

// stageOf is the stage of an agent as it is shown: one that was greeted and has said nothing since is silent.
func (c *Room) stageOf(agent string, s stage) stage {
	if _, at, heard := c.cfg.Reports.Agent(agent); heard && c.cfg.Clock().Sub(at) > reports.DarkAfter {
		return stageSilent
	}
	return s
}

func oneIf(so bool) float64 {
	if so {
		return 1
	}
	return 0
}
