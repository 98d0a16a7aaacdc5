package agent

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol/resource"
)

// envMetrics count boot environments by how far they are, from the last reports.
type envMetrics struct {
	report *reporter
	desc   *prometheus.Desc
}

func newEnvMetrics(reg prometheus.Registerer, r *reporter) {
	reg.MustRegister(&envMetrics{r, prometheus.NewDesc("rackboot_agent_boot_environments", "Servers with a boot environment, by how far it is.", []string{"state"}, nil)})
}

// Describe implements prometheus.Collector.
func (m *envMetrics) Describe(ch chan<- *prometheus.Desc) { ch <- m.desc }

// Collect implements prometheus.Collector.
func (m *envMetrics) Collect(ch chan<- prometheus.Metric) {
	n := map[resource.EnvState]int{}
	servers, _ := m.report.snapshot()
	for _, s := range servers {
		if s.Env != nil {
			n[s.Env.State]++
		}
	}
	for _, s := range resource.EnvStates() {
		ch <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, float64(n[s]), string(s))
	}
}

var _ prometheus.Collector = (*envMetrics)(nil)
