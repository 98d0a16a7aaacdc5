package reports

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol/resource"
)

// environments count boot environments by how far they are, from the last reports.
type environments struct {
	report *Room
	desc   *prometheus.Desc
}

func newEnvironments(r *Room) *environments {
	return &environments{r, prometheus.NewDesc("rackboot_agent_boot_environments", "Servers with a boot environment, by how far it is.", []string{"state"}, nil)}
}

// Describe implements prometheus.Collector.
func (m *environments) Describe(ch chan<- *prometheus.Desc) { ch <- m.desc }

// Collect implements prometheus.Collector.
func (m *environments) Collect(ch chan<- prometheus.Metric) {
	n := map[resource.EnvState]int{}
	servers, _ := m.report.Snapshot()
	for _, s := range servers {
		if s.Env != nil {
			n[s.Env.State]++
		}
	}
	for _, s := range resource.EnvStates() {
		ch <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, float64(n[s]), string(s))
	}
}

var _ prometheus.Collector = (*environments)(nil)
