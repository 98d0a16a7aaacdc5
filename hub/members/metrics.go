package members

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

type metrics struct {
	renewals *prometheus.CounterVec
	expiry   *prometheus.Desc
}

func newMetrics() metrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("rackboot_"+name, help, labels, nil)
	}
	m := metrics{
		renewals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_renewals_total", Help: "Agents that asked for a certificate or where they stand, by result.",
		}, []string{"result"}),
		expiry: desc("hub_agent_certificate_expiry_timestamp_seconds", "When the last certificate of each agent that serves a rack or stands by ends.", "agent"),
	}
	for _, r := range []string{renewIssued, renewStanding, renewEnded, renewDenied, renewFailed} {
		m.renewals.WithLabelValues(r)
	}
	return m
}

// Describe implements prometheus.Collector.
func (c *Room) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.expiry
	c.renewals.Describe(ch)
}

// Collect implements prometheus.Collector.
func (c *Room) Collect(ch chan<- prometheus.Metric) {
	c.renewals.Collect(ch)
	for _, a := range store.List[*resource.Agent](c.cfg.Objects) {
		if k := c.certificateOf(a); c.cfg.Terms.Belongs(a) && !k.NotAfter.IsZero() {
			ch <- prometheus.MustNewConstMetric(c.expiry, prometheus.GaugeValue, float64(k.NotAfter.Unix()), a.Metadata.Name)
		}
	}
}
