package status

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/plan"
	"rackboot/protocol/resource"
)

// holdMetrics say how the holds stand, and what became of those that ended.
type holdMetrics struct {
	states, oldest, unfenced *prometheus.Desc
	read, stale              *prometheus.Desc
}

func newHoldMetrics() holdMetrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("rackboot_"+name, help, labels, nil)
	}
	m := holdMetrics{
		states:   desc("hub_holds", "Holds by state.", "state"),
		oldest:   desc("hub_hold_oldest_seconds", "Age of the oldest hold that was not released, by mode; 0 without one.", "mode"),
		unfenced: desc("hub_hold_unfenced_oldest_seconds", "Age of the oldest hold whose server is neither proved nor confirmed off, by mode; 0 without one.", "mode"),
		read:     desc("hub_read_oldest_seconds", "Age of the last recorded read of the server whose is the oldest, by rack; 0 without a server that was heard of.", "rack"),
		stale:    desc("hub_stale_servers", "Servers whose last recorded read is older than three polls, by rack.", "rack"),
	}
	return m
}

func (m *holdMetrics) describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.states, m.oldest, m.unfenced, m.read, m.stale} {
		ch <- d
	}
}

// collectReads says how old the words are that rest on reads.
func (m *holdMetrics) collectReads(c *Room, f plan.Fleet, ch chan<- prometheus.Metric) {
	oldest, stale, polls := map[string]time.Duration{}, map[string]int{}, map[string]time.Duration{}
	for _, r := range f.Racks {
		polls[r.Metadata.Name] = r.Spec.PollInterval.D()
	}
	for _, s := range f.Servers {
		rack := f.RackOf(s.Metadata.Name)
		if _, there := polls[rack]; !there || f.Reports[s.Metadata.Name] == nil {
			continue
		}
		read := c.readAt(s.Metadata.Name, polls[rack])
		oldest[rack] = max(oldest[rack], read.age)
		if read.stale() {
			stale[rack]++
		}
	}
	for rack := range polls {
		ch <- prometheus.MustNewConstMetric(m.read, prometheus.GaugeValue, oldest[rack].Seconds(), rack)
		ch <- prometheus.MustNewConstMetric(m.stale, prometheus.GaugeValue, float64(stale[rack]), rack)
	}
}

// collect takes holds that are decorated.
func (m *holdMetrics) collect(f plan.Fleet, ch chan<- prometheus.Metric) {
	states := map[resource.HoldState]int{}
	oldest, unfenced := map[resource.StopMode]time.Duration{}, map[resource.StopMode]time.Duration{}
	for _, h := range f.Holds {
		states[h.Status.State]++
		if h.Status.ReleasedAt != nil || h.Metadata.CreatedAt == nil {
			continue
		}
		age := f.Now.Sub(*h.Metadata.CreatedAt)
		oldest[h.Spec.Mode] = max(oldest[h.Spec.Mode], age)
		if s := h.Status.State; s != resource.StateFenced && s != resource.StateConfirmed && s != resource.StateReleasing {
			unfenced[h.Spec.Mode] = max(unfenced[h.Spec.Mode], age)
		}
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, s := range resource.HoldStates() {
		gauge(m.states, float64(states[s]), string(s))
	}
	for _, mode := range []resource.StopMode{resource.StopSoft, resource.StopHard} {
		gauge(m.oldest, oldest[mode].Seconds(), string(mode))
		gauge(m.unfenced, unfenced[mode].Seconds(), string(mode))
	}
}
