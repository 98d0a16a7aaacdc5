package secret

import "github.com/prometheus/client_golang/prometheus"

// metrics says at each scrape how many Secrets there are.
type metrics struct {
	vault   *Vault
	secrets *prometheus.Desc
	ready   *prometheus.Desc
}

func newMetrics(v *Vault) *metrics {
	return &metrics{
		vault:   v,
		secrets: prometheus.NewDesc("rackboot_hub_secrets", "Secrets in the hub's store, by whether their key-encryption key is there.", []string{"state"}, nil),
		ready:   prometheus.NewDesc("rackboot_hub_secrets_writable", "1 while secrets can be encrypted, else 0.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.secrets
	ch <- m.ready
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	v := m.vault
	v.mu.RLock()
	secrets, keys, problem := v.secrets, v.ring, v.problem
	v.mu.RUnlock()
	readable, unreadable := 0, 0
	if secrets != nil {
		for _, s := range secrets.List() {
			e, err := parse(s.Envelope)
			if err == nil {
				_, err = keys.find(e.Key)
			}
			if err != nil {
				unreadable++
			} else {
				readable++
			}
		}
	}
	writable := 1.0
	if problem != nil {
		writable = 0
	}
	ch <- prometheus.MustNewConstMetric(m.secrets, prometheus.GaugeValue, float64(readable), "readable")
	ch <- prometheus.MustNewConstMetric(m.secrets, prometheus.GaugeValue, float64(unreadable), "unreadable")
	ch <- prometheus.MustNewConstMetric(m.ready, prometheus.GaugeValue, writable)
}
