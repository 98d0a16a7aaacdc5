package rollout

import (
	"fmt"
	"slices"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Begin is a roll-out of a revision from its start: its claimed servers in their waves,
// none of them begun. From is the revision before, 0 for none. It is Waiting, or Failed if
// its waves cannot be read. Who had another roll-out before gives it to [Supersede].
func Begin(now time.Time, spec resource.RolloutSpec, revision, from int, servers []Server) resource.RolloutStatus {
	now = now.UTC()
	st := resource.RolloutStatus{
		Revision: revision, From: from, Strategy: spec.Strategy, Phase: resource.RolloutWaiting,
		StartedAt: now, WaveAt: now, Members: map[string]resource.RolloutMember{},
	}
	in := map[string]Server{}
	for _, s := range servers {
		if s.Claimed {
			in[s.Name] = s
		}
	}
	waves, err := dealt(spec, in)
	if err != nil {
		st.Phase, st.Reason, st.EndedAt = resource.RolloutFailed, err.Error(), &now
		return st
	}
	st.Waves = len(waves)
	for w, names := range waves {
		for _, name := range names {
			st.Members[name] = resource.RolloutMember{Wave: w, State: resource.MemberWaiting, Since: now}
		}
	}
	return st
}

// dealt are the names of each wave's servers; the first is the canary's, and there is no
// other if that has them all.
func dealt(spec resource.RolloutSpec, servers map[string]Server) ([][]string, error) {
	var canaries, rest []string
	for _, name := range inTurn(spec, servers) {
		if isCanary(spec.Canary, servers[name], len(canaries), len(servers)) {
			canaries = append(canaries, name)
		} else {
			rest = append(rest, name)
		}
	}
	// Canaries were the best to begin; of the others each wave has every rack.
	rest = spread(servers, rest)
	waves := [][]string{canaries}
	n := len(rest)
	for i, share := range spec.Waves {
		of, ok := share.Of(n)
		if !ok {
			return nil, protocol.Errorf(protocol.CodeInvalid, "rollout", "spec.rollout.waves[%d] %q is neither a count nor percent", i, share)
		}
		of = min(of, len(rest))
		waves, rest = append(waves, rest[:of]), rest[of:]
	}
	if len(rest) > 0 {
		waves = append(waves, rest)
	}
	return waves, nil
}

// isCanary says whether a server is one, if so many are already.
func isCanary(spec resource.CanarySpec, s Server, already, size int) bool {
	if len(spec.MatchLabels) > 0 {
		return s.has(spec.MatchLabels)
	}
	return already < wantCanaries(spec, size)
}

// wantCanaries is the count of canaries, which leaves one server of a group of two or more.
func wantCanaries(spec resource.CanarySpec, size int) int {
	return min(spec.Count, max(1, size-1))
}

// inTurn are the servers as canaries are chosen: those that can be begun and do not boot
// the revision already, of as many racks as there are; then those that do not serve and
// could be; then the others.
func inTurn(spec resource.RolloutSpec, servers map[string]Server) []string {
	all := make([]string, 0, len(servers))
	for name := range servers {
		all = append(all, name)
	}
	all = spread(servers, all)
	slices.SortStableFunc(all, func(a, b string) int {
		return suits(spec.Strategy, servers[a]) - suits(spec.Strategy, servers[b])
	})
	return all
}

// suits says how well a server does for a canary; less is better.
func suits(strategy resource.RolloutStrategy, s Server) int {
	switch {
	case s.Boots == s.Target && s.place() != isGone:
		return 2
	case !able(strategy, s):
		return 3
	case s.place() == isFailed:
		return 1
	}
	return 0
}

// able says whether a server could be begun if nothing of the roll-out stood against it.
// With OnNextBoot it is one that boots the revision at its next power-on. One that has
// booted nothing yet takes the revision with its first boot, whatever the strategy.
func able(strategy resource.RolloutStrategy, s Server) bool {
	here := s.place() != isGone && s.place() != isAway
	if strategy == resource.RolloutOnNextBoot {
		return here && (s.Network || s.Boots == "")
	}
	if here && s.Boots == "" {
		return true
	}
	return (s.place() == isUp || s.place() == isFailed) && s.fits(strategy)
}

// Supersede ends a roll-out for a newer revision. It gives no more orders; what it ordered
// before keeps its server busy until its attempt ends, so that the newer one waits for it.
func Supersede(now time.Time, s resource.RolloutStatus, by int) resource.RolloutStatus {
	if s.Phase.Over() {
		return s
	}
	now = now.UTC()
	s.Phase, s.Resumes, s.EndedAt = resource.RolloutSuperseded, "", &now
	s.Reason = fmt.Sprintf("revision %d is newer", by)
	return s
}
