package boot

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol/decide"
)

// metrics count what boot clients asked for and what was lost of it.
type metrics struct {
	dropped, summed prometheus.Counter
	userData        *prometheus.CounterVec
	reports         *prometheus.CounterVec
	enrolments      *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_agent_evidence_dropped_total", Help: "Requests of boot clients that were not noted, because too many waited.",
		}),
		summed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rackboot_agent_notices_summed_total", Help: "What boot servers saw and a condition says, without an event of its own, because there were many.",
		}),
		userData: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_agent_user_data_requests_total", Help: "Requests for the user data of servers, by verdict.",
		}, []string{"verdict"}),
	}
	m.reports = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_agent_image_reports_total", Help: "Reports of booted images, by verdict.",
	}, []string{"verdict"})
	m.enrolments = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "rackboot_agent_tpm_requests_total", Help: "Requests of booted images to enrol a TPM, or to attest their boot by it, by verdict.",
	}, []string{"verdict"})
	for _, v := range decide.EnrolVerdicts() {
		m.enrolments.WithLabelValues(string(v))
	}
	for _, v := range decide.ReportVerdicts() {
		m.reports.WithLabelValues(string(v))
	}
	for _, v := range decide.IgnitionVerdicts() {
		m.userData.WithLabelValues(string(v))
	}
	reg.MustRegister(m.dropped, m.summed, m.userData, m.reports, m.enrolments)
	return m
}
