package packages

import "github.com/prometheus/client_golang/prometheus"

// metrics counts what is in the book when it is asked.
type metrics struct {
	room     *Room
	packages *prometheus.Desc
}

func newMetrics(r *Room) *metrics {
	return &metrics{r, prometheus.NewDesc("rackboot_hub_agent_packages", "Packages of agents, by whether all of their programs are at the hub.", []string{"whole"}, nil)}
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) { ch <- m.packages }

// Collect implements prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	whole, partial := 0, 0
	for _, p := range m.room.List() {
		if p.Whole {
			whole++
		} else {
			partial++
		}
	}
	ch <- prometheus.MustNewConstMetric(m.packages, prometheus.GaugeValue, float64(whole), "yes")
	ch <- prometheus.MustNewConstMetric(m.packages, prometheus.GaugeValue, float64(partial), "no")
}
