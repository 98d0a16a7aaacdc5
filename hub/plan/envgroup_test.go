package plan

import (
	"fmt"
	"slices"
	"testing"

	"rackboot/protocol/resource"
)

// The params of the group that selects a server come after those of its profiles and
// before those of all; of two groups that select it neither counts. What the hub writes
// into the group's status changes nothing.
func TestEnvGroup(t *testing.T) {
	group := func(name, label string) *resource.ServerGroup {
		g := named(&resource.ServerGroup{Spec: resource.ServerGroupSpec{Params: map[string]any{"who": name}}}, name)
		g.Spec.Selector.MatchLabels = map[string]string{"row": label}
		return g
	}
	for name, row := range map[string]struct {
		groups []*resource.ServerGroup
		global bool
		want   []string
	}{
		"one":               {[]*resource.ServerGroup{group("workers", "7"), group("others", "8")}, true, []string{"server: server", "profile p1: p1", "profile p2: p2", "group workers: workers", "profile global: global"}},
		"none":              {[]*resource.ServerGroup{group("others", "8")}, true, []string{"server: server", "profile p1: p1", "profile p2: p2", "profile global: global"}},
		"two":               {[]*resource.ServerGroup{group("workers", "7"), group("others", "7")}, true, []string{"server: server", "profile p1: p1", "profile p2: p2", "profile global: global"}},
		"no global profile": {[]*resource.ServerGroup{group("workers", "7")}, false, []string{"server: server", "profile p1: p1", "profile p2: p2", "group workers: workers"}},
	} {
		f, srv, env, secrets := envFleet()
		srv.Metadata.Labels = map[string]string{"row": "7"}
		f.Groups = row.groups
		if !row.global {
			f.Env.Profiles = f.Env.Profiles[1:]
		}
		var got []string
		for _, p := range EnvBundle(f, srv, env, envOwner(), secrets).Params {
			got = append(got, fmt.Sprintf("%s: %v", p.Source, p.Values["who"]))
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
		inputs := func() string { return EnvInputs(f, EnvShared(f.Env), srv, env, envOwner()) }
		was := inputs()
		row.groups[0].Metadata.Revision++
		if inputs() != was {
			t.Errorf("%s: the group's status is read", name)
		}
		row.groups[0].Metadata.Generation++
		if counts := len(row.want) == 5 || !row.global; (inputs() != was) != counts {
			t.Errorf("%s: another spec of the group is read: %t", name, !counts)
		}
	}
}
