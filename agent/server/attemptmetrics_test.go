package server

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
)

// series is one of a metric.
type series struct {
	labels map[string]string
	value  float64
}

func gathered(t *testing.T, reg prometheus.Gatherer, name string) (out []series) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			out = append(out, series{labels, m.GetCounter().GetValue() + m.GetGauge().GetValue()})
		}
	}
	return out
}

// What a decision measures is counted, in series that are there from the start: an
// increase from nothing is one.
func TestAttemptMetrics(t *testing.T) {
	m := newAttemptMetrics()
	reg := prometheus.NewRegistry()
	m.register(reg)
	count := func(name string) int { return len(gathered(t, reg, name)) }
	names := []string{"rackboot_agent_attempts_total", "rackboot_agent_attempt_part_seconds", "rackboot_agent_method_mismatches_total", "rackboot_agent_override_failures_total"}
	before := map[string]int{}
	for _, n := range names {
		before[n] = count(n)
	}
	if want := len(resource.Purposes()) * len(targets) * (len(resource.AttemptFailures()) + 1); before[names[0]] != want {
		t.Errorf("%d series of attempts, want %d", before[names[0]], want)
	}
	for _, p := range resource.Purposes() {
		for _, to := range targets {
			m.measure(decide.Measured{Ended: []decide.Ended{{Purpose: p, Method: to}}, Mismatches: []decide.Mismatch{{Intended: protocol.TargetHdd, Observed: protocol.TargetPxe}}})
			for _, f := range resource.AttemptFailures() {
				m.measure(decide.Measured{Ended: []decide.Ended{{Purpose: p, Method: to, Code: f.Code}}})
			}
		}
	}
	for _, p := range decide.Parts() {
		m.measure(decide.Measured{Spans: []decide.Span{{Part: p, Took: time.Second}}})
	}
	for _, o := range protocol.BootOutcomes() {
		if !o.OK() {
			m.measure(decide.Measured{Overrides: []protocol.BootOutcome{o}})
		}
	}
	for _, n := range names {
		if got := count(n); got != before[n] || got == 0 {
			t.Errorf("%s has %d series, and had %d", n, got, before[n])
		}
	}
	for _, c := range gathered(t, reg, names[0]) {
		if c.value != 1 {
			t.Errorf("%v was counted %v times", c.labels, c.value)
		}
	}
}
