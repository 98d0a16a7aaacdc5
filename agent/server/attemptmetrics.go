package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// succeeded is the outcome of an attempt that has no code.
const succeeded = "Succeeded"

// attemptMetrics count power-ons.
type attemptMetrics struct {
	ended      *prometheus.CounterVec
	parts      *prometheus.HistogramVec
	mismatches *prometheus.CounterVec
	overrides  *prometheus.CounterVec
}

// targets are the methods that an attempt may be of.
var targets = []protocol.BootTarget{protocol.TargetPxe, protocol.TargetUefiHTTP, protocol.TargetHdd, protocol.TargetCd, protocol.TargetSetup}

func newAttemptMetrics() attemptMetrics {
	m := attemptMetrics{
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_agent_attempts_total", Help: "Power-ons that ended, by their owner's kind, the method that was ordered, and Succeeded or the code of the failure.",
		}, []string{"purpose", "method", "outcome"}),
		parts: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "rackboot_agent_attempt_part_seconds", Help: "How long the parts of power-ons took.",
			Buckets: []float64{0.1, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 180, 300, 600, 1200, 1800, 3600, 7200},
		}, []string{"part"}),
		mismatches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_agent_method_mismatches_total", Help: "Power-ons at which firmware used another method than was ordered.",
		}, []string{"intended", "observed"}),
		overrides: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rackboot_agent_override_failures_total", Help: "Boot overrides that a BMC did not store, by what became of the write.",
		}, []string{"outcome"}),
	}
	for _, p := range resource.Purposes() {
		for _, t := range targets {
			m.ended.WithLabelValues(string(p), string(t), succeeded)
			for _, f := range resource.AttemptFailures() {
				m.ended.WithLabelValues(string(p), string(t), string(f.Code))
			}
		}
	}
	for _, p := range decide.Parts() {
		m.parts.WithLabelValues(string(p))
	}
	for _, t := range targets {
		for _, o := range []protocol.BootTarget{protocol.TargetPxe, protocol.TargetUefiHTTP} { // what is seen of firmware
			if t != o {
				m.mismatches.WithLabelValues(string(t), string(o))
			}
		}
	}
	for _, o := range protocol.BootOutcomes() {
		if !o.OK() {
			m.overrides.WithLabelValues(string(o))
		}
	}
	return m
}

func (m *attemptMetrics) register(reg prometheus.Registerer) {
	reg.MustRegister(m.ended, m.parts, m.mismatches, m.overrides)
}

// measure takes over what a plan that is on disk has measured.
func (m *attemptMetrics) measure(d decide.Measured) {
	for _, e := range d.Ended {
		outcome := string(e.Code)
		if outcome == "" {
			outcome = succeeded
		}
		m.ended.WithLabelValues(string(e.Purpose), string(e.Method), outcome).Inc()
	}
	for _, s := range d.Spans {
		m.parts.WithLabelValues(string(s.Part)).Observe(s.Took.Seconds())
	}
	for _, x := range d.Mismatches {
		m.mismatches.WithLabelValues(string(x.Intended), string(x.Observed)).Inc()
	}
	for _, o := range d.Overrides {
		m.overrides.WithLabelValues(string(o)).Inc()
	}
}
