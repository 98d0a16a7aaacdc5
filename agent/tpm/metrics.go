package tpm

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/netboot/attest/enrol"
)

// metrics count what became of the TPMs that were offered.
type metrics struct {
	offers            prometheus.Counter
	enrolled, refused *prometheus.CounterVec
	attestations      *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer, waiting, quotes func() float64) metrics {
	m := metrics{
		offers: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_agent_tpm_challenges_total", Help: "TPMs of servers that were challenged.",
		}),
		enrolled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_agent_tpm_enrolments_total", Help: "TPMs of servers that answered their challenge and are enrolled, by who vouches for them.",
		}, []string{"origin"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_agent_tpm_refused_total", Help: "TPMs of servers that were not enrolled, by refusal.",
		}, []string{"refusal"}),
		attestations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_agent_attestations_total", Help: "Boots of servers that were to be attested, by result.",
		}, []string{"result"}),
	}
	m.attestations.WithLabelValues("attested")
	for _, why := range Doubts() {
		m.attestations.WithLabelValues(string(why))
	}
	for _, o := range []enrol.Origin{enrol.Vouched, enrol.NoCertificate, enrol.NoAuthority} {
		m.enrolled.WithLabelValues(string(o))
	}
	for _, why := range Refusals() {
		m.refused.WithLabelValues(string(why))
	}
	reg.MustRegister(m.offers, m.enrolled, m.refused, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rackboot_agent_tpm_challenges_waiting", Help: "Challenges of TPMs that wait for their answer.",
	}, waiting), m.attestations, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rackboot_agent_attestations_waiting", Help: "Boots that were asked for a quote, or whose verdict waits for their report.",
	}, quotes))
	return m
}
