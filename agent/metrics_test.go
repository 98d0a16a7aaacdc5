package agent

import (
	"maps"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state/statetest"
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

// Each phase, attempt state and power state shows in the series of a server (metal-operator
// leaves Released and Parked out of its gauge: such servers show 0 everywhere; facts boot
// policy §4.4).
func TestServerStateHasEveryPhase(t *testing.T) {
	reg := prometheus.NewRegistry()
	a, _ := tracing(t, statetest.NewMemory())
	reg.MustRegister(a.met)
	r := a.reports
	for _, phase := range resource.Phases() {
		for _, power := range protocol.PowerStates() {
			for _, state := range resource.AttemptStates() {
				s := resource.ServerReport{Server: "n000"}
				s.Observation.Power = power
				s.Attempt = &resource.AttemptReport{State: state, Intended: protocol.TargetPxe}
				r.Put(s, phase)
				got := gathered(t, reg, "rackboot_agent_server_state")
				want := series{map[string]string{"server": s.Server, "phase": string(phase), "power": string(power), "attempt": string(state), "intended": "Pxe", "observed": ""}, 1}
				if len(got) != 1 || got[0].value != want.value || !maps.Equal(got[0].labels, want.labels) {
					t.Fatalf("%v, want %v", got, want)
				}
			}
		}
	}
}
