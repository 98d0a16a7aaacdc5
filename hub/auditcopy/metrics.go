package auditcopy

import "github.com/prometheus/client_golang/prometheus"

// counters are what is counted.
type counters struct {
	entries, failures, conflicts prometheus.Counter
}

func newCounters() *counters {
	count := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	return &counters{
		entries:   count("rackboot_hub_audit_copied_entries_total", "Entries of this hub's audit log that were copied to the servers of the store."),
		failures:  count("rackboot_hub_audit_copy_failures_total", "Attempts to copy this hub's audit log that failed."),
		conflicts: count("rackboot_hub_audit_copy_conflicts_total", "Writes to the copy of the audit log that another program was before."),
	}
}

// collector tells how far a Room's copy is; of a nil Room that nothing waits.
type collector struct {
	room                     *Room
	counted                  *counters
	entries, seconds, differ *prometheus.Desc
}

// Metrics are those of a Room; of a hub that is alone, r is nil.
func Metrics(r *Room) prometheus.Collector {
	desc := func(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }
	c := &collector{
		room: r, counted: newCounters(),
		entries: desc("rackboot_hub_audit_copy_behind_entries", "Entries of this hub's audit log that are not copied to the servers of the store yet."),
		seconds: desc("rackboot_hub_audit_copy_behind_seconds", "How long entries of this hub's audit log have waited to be copied; 0 if none wait."),
		differ:  desc("rackboot_hub_audit_copy_differs", "1 if this hub's audit log and its copy differ, so that nothing is copied."),
	}
	if r != nil {
		c.counted = r.metrics
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, one := range []prometheus.Counter{c.counted.entries, c.counted.failures, c.counted.conflicts} {
		one.Describe(ch)
	}
	for _, d := range []*prometheus.Desc{c.entries, c.seconds, c.differ} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	for _, one := range []prometheus.Counter{c.counted.entries, c.counted.failures, c.counted.conflicts} {
		one.Collect(ch)
	}
	entries, seconds, differ := c.room.state()
	for d, v := range map[*prometheus.Desc]float64{c.entries: entries, c.seconds: seconds, c.differ: differ} {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
}

// state says how many entries wait to be copied, how long, and whether the copy differs.
func (r *Room) state() (entries, seconds, differ float64) {
	if r == nil {
		return 0, 0, 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wrong != nil {
		differ = 1
	}
	if r.own != nil {
		if head, _ := r.own.Head(); head > r.copied.Seq {
			entries = float64(head - r.copied.Seq)
		}
	}
	if !r.behind.IsZero() && entries > 0 {
		seconds = r.cfg.Clock().Sub(r.behind).Seconds()
	}
	return entries, seconds, differ
}
