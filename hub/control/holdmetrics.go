package control

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/plan"
	"rackboot/protocol"
)

// holdMetrics say how the holds stand, and what became of those that ended.
type holdMetrics struct {
	states, oldest, unfenced *prometheus.Desc
	enforced                 prometheus.Histogram
	releases                 *prometheus.CounterVec
}

func newHoldMetrics() holdMetrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("rackboot_"+name, help, labels, nil)
	}
	m := holdMetrics{
		states:   desc("hub_holds", "Holds by state.", "state"),
		oldest:   desc("hub_hold_oldest_seconds", "Age of the oldest hold that was not released, by mode; 0 without one.", "mode"),
		unfenced: desc("hub_hold_unfenced_oldest_seconds", "Age of the oldest hold whose server is neither proved nor confirmed off, by mode; 0 without one.", "mode"),
		enforced: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "rackboot_hub_hold_enforced_seconds", Help: "Time from the acceptance of a hold to the acknowledgement of the document with which it is on the agent's disk.",
			Buckets: []float64{.025, .05, .1, .25, .5, 1, 2.5, 5, 15, 60, 300},
		}),
		releases: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_hold_releases_total", Help: "Holds that were released, by who ended them.",
		}, []string{"kind"}),
	}
	for _, k := range releaseKinds() {
		m.releases.WithLabelValues(string(k))
	}
	return m
}

func (m *holdMetrics) describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.states, m.oldest, m.unfenced} {
		ch <- d
	}
	m.enforced.Describe(ch)
	m.releases.Describe(ch)
}

// collect takes holds that are decorated.
func (m *holdMetrics) collect(f plan.Fleet, ch chan<- prometheus.Metric) {
	states := map[protocol.HoldState]int{}
	oldest, unfenced := map[protocol.StopMode]time.Duration{}, map[protocol.StopMode]time.Duration{}
	for _, h := range f.Holds {
		states[h.Status.State]++
		if h.Status.ReleasedAt != nil || h.Metadata.CreatedAt == nil {
			continue
		}
		age := f.Now.Sub(*h.Metadata.CreatedAt)
		oldest[h.Spec.Mode] = max(oldest[h.Spec.Mode], age)
		if s := h.Status.State; s != protocol.StateFenced && s != protocol.StateConfirmed && s != protocol.StateReleasing {
			unfenced[h.Spec.Mode] = max(unfenced[h.Spec.Mode], age)
		}
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, s := range protocol.HoldStates() {
		gauge(m.states, float64(states[s]), string(s))
	}
	for _, mode := range []protocol.StopMode{protocol.StopSoft, protocol.StopHard} {
		gauge(m.oldest, oldest[mode].Seconds(), string(mode))
		gauge(m.unfenced, unfenced[mode].Seconds(), string(mode))
	}
	m.enforced.Collect(ch)
	m.releases.Collect(ch)
}
