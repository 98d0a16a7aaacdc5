package control

import (
	"github.com/prometheus/client_golang/prometheus"
)

// gaugeOf is one unlabelled series of what the hub registers, as a collector.
func gaugeOf(b *bench, name string) prometheus.Collector {
	return prometheus.CollectorFunc(func(ch chan<- prometheus.Metric) {
		families, err := b.reg.Gather()
		if err != nil {
			b.t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() == name {
				ch <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, f.GetHelp(), nil, nil), prometheus.GaugeValue, f.Metric[0].GetGauge().GetValue())
			}
		}
	})
}
