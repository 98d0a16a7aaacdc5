package webhooks

import "github.com/prometheus/client_golang/prometheus"

// collector has the metrics of a Room: those of a hook have its name, and there are MaxHooks at most.
type collector struct{ room *Room }

func desc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, []string{"webhook"}, nil)
}

func (collector) descs() []*prometheus.Desc {
	return []*prometheus.Desc{
		desc("rackboot_hub_webhook_delivered_total", "Events that the receiver took, dead letters sent again included."),
		desc("rackboot_hub_webhook_failures_total", "Attempts to send an event that failed."),
		desc("rackboot_hub_webhook_dead_letters", "Events that were given up and are kept."),
		desc("rackboot_hub_webhook_dropped_letters", "Events that were given up and are kept no more, because others were after them."),
		desc("rackboot_hub_webhook_lag_records", "Records of the log from the last event that was done with to the newest."),
		desc("rackboot_hub_webhook_oldest_undelivered_timestamp_seconds", "When the event was filed that is tried now; 0 for none."),
	}
}

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.descs() {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	d := c.descs()
	for _, w := range c.room.List() {
		oldest := 0.0
		if w.Waiting != nil {
			oldest = float64(w.Waiting.Filed.Unix())
		}
		for i, v := range []float64{float64(w.Delivered), float64(w.Failures)} {
			ch <- prometheus.MustNewConstMetric(d[i], prometheus.CounterValue, v, w.Name)
		}
		for i, v := range []float64{float64(w.Dead), float64(w.Dropped), float64(w.Newest - min(w.Position, w.Newest)), oldest} {
			ch <- prometheus.MustNewConstMetric(d[2+i], prometheus.GaugeValue, v, w.Name)
		}
	}
}
