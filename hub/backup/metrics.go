package backup

import "github.com/prometheus/client_golang/prometheus"

// collector has the metrics of a Room.
type collector struct{ room *Room }

func desc(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.descs() {
		ch <- d
	}
}

func (collector) descs() []*prometheus.Desc {
	return []*prometheus.Desc{
		desc("rackboot_hub_backup_interval_seconds", "Time between two backups that the hub makes by itself; 0 if it makes none."),
		desc("rackboot_hub_backup_last_success_timestamp_seconds", "Of when the last backup is that the hub made by itself and read back; 0 before the first."),
		desc("rackboot_hub_backup_size_bytes", "Size of that backup."),
		desc("rackboot_hub_backup_seconds", "Time that it took, reading back included."),
		desc("rackboot_hub_backup_failures_total", "Attempts of the hub to make a backup by itself that failed."),
		desc("rackboot_hub_backup_running", "1 while a backup is being made, whoever asked for it."),
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	d, r := c.descs(), c.room
	var every, made, size, took, running float64
	if r.cfg.Place != nil {
		every = r.cfg.Schedule.every().Seconds()
	}
	r.mu.Lock()
	if r.last != nil {
		made, size, took = float64(r.last.Made.Unix()), float64(r.last.Size), r.last.Seconds
	}
	if !r.running.IsZero() {
		running = 1
	}
	failures := float64(r.failures)
	r.mu.Unlock()
	for i, v := range []float64{every, made, size, took} {
		ch <- prometheus.MustNewConstMetric(d[i], prometheus.GaugeValue, v)
	}
	ch <- prometheus.MustNewConstMetric(d[4], prometheus.CounterValue, failures)
	ch <- prometheus.MustNewConstMetric(d[5], prometheus.GaugeValue, running)
}
