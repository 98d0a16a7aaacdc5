package rollout

import (
	"slices"

	"rackboot/protocol/resource"
)

// staff keeps a canary's wave by count at its strength: for one that left, or that cannot
// be begun now, another takes its place that can. It is that or wait, for nothing goes
// past the canaries without proof.
func (r *run) staff() {
	spec := r.in.Spec.Canary
	if r.st.Wave > 0 || len(spec.MatchLabels) > 0 || r.st.Phase == resource.RolloutPaused {
		return
	}
	var live, idle, bench []string
	for name, m := range r.st.Members {
		switch {
		case m.State == resource.MemberSkipped:
		case m.Wave > 0 && m.State == resource.MemberWaiting && suits(r.st.Strategy, r.servers[name]) < 2:
			bench = append(bench, name)
		case m.Wave > 0:
		case m.State == resource.MemberWaiting && !able(r.st.Strategy, r.servers[name]):
			idle = append(idle, name)
		default:
			live = append(live, name)
		}
	}
	missing := min(wantCanaries(spec, len(r.servers))-len(live), len(bench))
	if missing <= 0 {
		return
	}
	slices.Sort(idle)
	bench = spread(r.servers, bench)
	slices.SortStableFunc(bench, func(a, b string) int {
		return suits(r.st.Strategy, r.servers[a]) - suits(r.st.Strategy, r.servers[b])
	})
	vacant := wantCanaries(spec, len(r.servers)) - len(live) - len(idle)
	for i, name := range bench[:missing] {
		if i >= vacant {
			r.st.Waves = max(r.st.Waves, 2)
			r.move(idle[i-max(vacant, 0)], r.last())
		}
		r.move(name, 0)
	}
}

func (r *run) move(name string, wave int) {
	m := r.st.Members[name]
	m.Wave = wave
	r.st.Members[name] = m
}
