package images

import (
	"cmp"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/plan/bootimages"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

type metrics struct {
	resolved                        *prometheus.CounterVec
	entries, pending, waiting, away *prometheus.Desc
}

func newMetrics() metrics {
	m := metrics{
		resolved: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_hub_image_resolutions_total", Help: "Questions to registries what an image is, by outcome.",
		}, []string{"outcome"}),
		entries: prometheus.NewDesc("rackboot_hub_boot_images", "Entries of the catalogue of boot images, by whether their files are verified: verified, unverified or failed.", []string{"state"}, nil),
		pending: prometheus.NewDesc("rackboot_hub_pending", "What registries and vendors are asked for and have not given yet, by what: an image, the files of a boot image, or a signature.", []string{"what"}, nil),
		waiting: prometheus.NewDesc("rackboot_hub_registry_waiting", "Images that a registry is asked for and has not given yet.", []string{"registry"}, nil),
		away:    prometheus.NewDesc("rackboot_hub_registry_away_seconds", "How long a registry that did not answer is not asked again; only of those.", []string{"registry"}, nil),
	}
	for _, r := range resolveOutcomes {
		m.resolved.WithLabelValues(string(r))
	}
	return m
}

// Describe implements prometheus.Collector.
func (r *Room) Describe(ch chan<- *prometheus.Desc) {
	ch <- r.entries
	ch <- r.pending
	ch <- r.waiting
	ch <- r.away
	r.resolved.Describe(ch)
}

// Collect implements prometheus.Collector.
func (r *Room) Collect(ch chan<- prometheus.Metric) {
	r.resolved.Collect(ch)
	for what, n := range map[string]int{"image": r.resolver.jobs.Open(), "files": r.files.jobs.Open(), "signature": r.signed.jobs.Open()} {
		ch <- prometheus.MustNewConstMetric(r.pending, prometheus.GaugeValue, float64(n), what)
	}
	now := r.cfg.Clock()
	for name, w := range r.resolver.jobs.Waiting() {
		ch <- prometheus.MustNewConstMetric(r.waiting, prometheus.GaugeValue, float64(w.Open), name)
		if w.Away {
			ch <- prometheus.MustNewConstMetric(r.away, prometheus.GaugeValue, max(0, w.Until.Sub(now).Seconds()), name)
		}
	}
	for state, n := range r.States() {
		ch <- prometheus.MustNewConstMetric(r.entries, prometheus.GaugeValue, float64(n), state)
	}
}

// States counts the entries by how far their files and signatures are.
func (r *Room) States() map[string]int {
	out := map[string]int{"verified": 0, "unverified": 0, "failed": 0}
	for _, b := range store.List[*resource.BootImage](r.cfg.Objects) {
		_, err := r.files.jobs.State(entryKey{b.Metadata.Name, b.Metadata.UID})
		asked := false
		for arch := range b.Spec.Architectures {
			state, why := r.signed.seen(b, arch)
			asked = asked || state == bootimages.SeenAsked
			err = cmp.Or(err, why)
		}
		switch files, verified := proved(b); {
		case err != nil:
			out["failed"]++
		case verified < files || asked:
			out["unverified"]++
		default:
			out["verified"]++
		}
	}
	return out
}
