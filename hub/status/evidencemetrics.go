package status

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/plan"
	"rackboot/protocol/resource"
)

// evidenceMetrics say what it rests on that claims are provisioned, and how their user data went.
type evidenceMetrics struct{ classes, ways *prometheus.Desc }

func newEvidenceMetrics() evidenceMetrics {
	return evidenceMetrics{
		classes: prometheus.NewDesc("rackboot_hub_claims_provisioned", "Claims whose boot ended well, by how strong the evidence of that is.", []string{"class"}, nil),
		ways:    prometheus.NewDesc("rackboot_hub_claims_secrets", "Claims with user data, by how it goes to the server in the last boot from the network.", []string{"way"}, nil),
	}
}

func (m *evidenceMetrics) describe(ch chan<- *prometheus.Desc) {
	ch <- m.classes
	ch <- m.ways
}

// collect takes a fleet with an index.
func (m *evidenceMetrics) collect(f plan.Fleet, ch chan<- prometheus.Metric) {
	classes, ways := map[resource.EvidenceClass]int{}, map[resource.SecretsWay]int{}
	for _, cl := range f.Claims {
		if b := f.ConfigOf(cl); b != nil {
			classes[classOf(b)]++
			ways[wayOf(b, f.Reports[b.Spec.Server])]++
		}
	}
	for _, class := range resource.EvidenceClasses() {
		ch <- prometheus.MustNewConstMetric(m.classes, prometheus.GaugeValue, float64(classes[class]), string(class))
	}
	for _, way := range resource.SecretsWays() {
		ch <- prometheus.MustNewConstMetric(m.ways, prometheus.GaugeValue, float64(ways[way]), string(way))
	}
}
