package upgrade

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol/message"
)

// metrics are those of the room.
type metrics struct {
	room  *Room
	able  *prometheus.Desc
	stage *prometheus.Desc
	ends  *prometheus.CounterVec
}

func newMetrics(r *Room, reg prometheus.Registerer) *metrics {
	m := &metrics{
		room:  r,
		able:  prometheus.NewDesc("rackboot_agent_upgrade_able", "1 while the agent can upgrade itself when the hub orders it, else 0.", nil, nil),
		stage: prometheus.NewDesc("rackboot_agent_upgrade_stage", "1 for how far the agent is with the last order to run another release, 0 for the other stages.", []string{"stage"}, nil),
		ends: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_agent_upgrade_ended_total", Help: "Orders to run another release that this process has ended, by how.",
		}, []string{"stage"}),
	}
	for _, s := range []message.UpgradeStage{message.UpgradeDone, message.UpgradeRefused} {
		m.ends.WithLabelValues(label(s))
	}
	reg.MustRegister(m, m.ends)
	return m
}

func label(s message.UpgradeStage) string { return strings.ToLower(string(s)) }

func (m *metrics) ended(s message.UpgradeStage) { m.ends.WithLabelValues(label(s)).Inc() }

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.able
	ch <- m.stage
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	m.room.mu.Lock()
	said := m.room.said.Stage
	m.room.mu.Unlock()
	able := 0.0
	if m.room.cfg.Unable() == "" {
		able = 1
	}
	ch <- prometheus.MustNewConstMetric(m.able, prometheus.GaugeValue, able)
	for _, s := range message.UpgradeStages() {
		so := 0.0
		if s == said {
			so = 1
		}
		ch <- prometheus.MustNewConstMetric(m.stage, prometheus.GaugeValue, so, label(s))
	}
}
