package groups

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/conditions"
	"rackboot/protocol/resource"
)

// metrics are computed from what the last pass found. Their series are bounded by the
// groups that there are.
type metrics struct {
	skew, mode, skipped, servers, conditions, phase, members *prometheus.Desc
}

func newMetrics() metrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("rackboot_"+name, help, labels, nil)
	}
	m := metrics{
		skew:       desc("hub_group_boot_image_skew", "1 if a server group has a boot image in use that is older than allowed, or whose version cannot be compared.", "group"),
		mode:       desc("hub_boot_image_skew_mode", "Always 1: how the age of boot images is judged.", "mode"),
		skipped:    desc("hub_groups_skipped", "Server groups whose boot image is not managed, by reason.", "reason"),
		servers:    desc("hub_group_servers", "Servers of each group, by whether they were seen to boot its current revision.", "group", "boots"),
		conditions: desc("hub_group_conditions", "Server groups that have a condition, by its code.", "code"),
		phase:      desc("hub_rollout_phase", "Always 1: how far the last roll-out of each server group has come.", "group", "phase"),
		members:    desc("hub_rollout_servers", "Servers of the last roll-out of each server group, by state.", "group", "state"),
	}
	return m
}

func (m metrics) describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.skew, m.mode, m.skipped, m.servers, m.conditions, m.phase, m.members} {
		ch <- d
	}
}

func (m metrics) collect(b *groupBook, conds *conditions.Book, ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	views, mode := b.all()
	gauge(m.mode, 1, string(mode))
	skipped := map[resource.SkipReason]int{}
	for name, v := range views {
		violated := 0.0
		if v.skew != "" {
			violated = 1
		}
		gauge(m.skew, violated, name)
		skipped[v.enrolment.Skipped]++
		gauge(m.servers, float64(v.counts.Current), name, "current")
		gauge(m.servers, float64(v.counts.Older), name, "older")
		gauge(m.servers, float64(v.counts.Unknown), name, "unknown")
		m.rollout(gauge, name, v.rollout)
	}
	for code, n := range conds.Count() {
		gauge(m.conditions, float64(n), string(code))
	}
	for _, r := range resource.SkipReasons() {
		gauge(m.skipped, float64(skipped[r]), string(r))
	}
}

func (m metrics) rollout(gauge func(*prometheus.Desc, float64, ...string), group string, ro *resource.RolloutStatus) {
	if ro == nil {
		return
	}
	gauge(m.phase, 1, group, string(ro.Phase))
	states := map[resource.MemberState]int{}
	for _, one := range ro.Members {
		states[one.State]++
	}
	for _, s := range resource.MemberStates() {
		gauge(m.members, float64(states[s]), group, string(s))
	}
}
