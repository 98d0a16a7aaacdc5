package rollout

import (
	"slices"

	"rackboot/protocol/resource"
)

// turn is what follows for a wave.
type turn string

const (
	turnStay turn = "stay"
	turnNext turn = "next"
	turnFail turn = "fail"
)

// has is what a wave's members are, without those who left. Of several the last in this
// order says it.
type has string

const (
	hasNone    has = "none"    // there are none: it is passed over, and proves nothing
	hasAway    has = "away"    // none can be reached
	hasFailed  has = "failed"  // all have ended that can be reached, none of them well
	hasProved  has = "proved"  // likewise, and one of them well
	hasPending has = "pending" // some can be begun, or are on their way
)

var wavesHave = []has{hasNone, hasAway, hasFailed, hasProved, hasPending}

// waveRule says when a wave ends. Nobody waits for who cannot be reached, but for a
// canary: without one nothing is proved. What failed in a wave is counted by failRule.
//
//	canary | members | stamped | turn
//	*      | pending | *       | stay
//	no     | *       | *       | next
//	yes    | failed  | *       | fail
//	yes    | away    | *       | stay
//	yes    | *       | no      | stay
//	yes    | *       | yes     | next
func waveRule(canary bool, members has, stamped bool) turn {
	switch {
	case members == hasPending:
		return turnStay
	case !canary:
		return turnNext
	case members == hasFailed:
		return turnFail
	case members == hasAway || !stamped:
		return turnStay
	}
	return turnNext
}

// tally is what the waves have up to each: late ones of a wave that has passed are waited
// for with the next. The canaries stand for themselves.
func (r *run) tally() []has {
	waves := make([]int, max(r.st.Waves, 1))
	for name, m := range r.st.Members {
		w := slices.Index(wavesHave, r.counts(m, r.servers[name]))
		at := min(max(m.Wave, 0), len(waves)-1)
		waves[at] = max(waves[at], w)
	}
	out := make([]has, len(waves))
	for w, most := range waves {
		if pending := len(wavesHave) - 1; w > 0 && waves[w-1] == pending {
			most, waves[w] = pending, pending
		}
		out[w] = wavesHave[most]
	}
	return out
}

// counts says what one member makes of its wave. With OnNextBoot nobody can be begun:
// the canary's wave lasts until one is proved, and the others' until all are.
func (r *run) counts(m resource.RolloutMember, s Server) has {
	switch m.State {
	case resource.MemberSkipped, resource.MemberReturned, resource.MemberReturning:
		return hasNone
	case resource.MemberDone:
		return hasProved
	case resource.MemberFailed:
		return hasFailed
	case resource.MemberSoaking:
		return hasPending
	case resource.MemberBegun:
		if s.place() == isAway {
			return hasAway
		}
		return hasPending
	case resource.MemberWaiting:
	}
	switch {
	case r.st.Strategy == resource.RolloutOnNextBoot && m.Wave > 0:
		return hasPending
	case r.st.Strategy == resource.RolloutOnNextBoot && r.in.Stamped:
		return hasProved // nothing is to be proved, and nobody to be waited for
	case r.st.Strategy != resource.RolloutOnNextBoot && spotOf(r.st.Strategy, s) != spotNone:
		return hasPending
	}
	return hasAway
}

// advance ends waves that have ended, or the roll-out.
func (r *run) advance() {
	if r.st.Phase == resource.RolloutCompleted {
		return
	}
	r.staff()
	r.prove()
	waves := r.tally()
	if why := r.tooMany(); why != "" {
		r.fail(why)
		return
	}
	for !r.st.Phase.Over() && r.st.Phase != resource.RolloutPaused {
		switch waveRule(r.st.Wave == 0, waves[r.st.Wave], r.in.Stamped) {
		case turnStay:
			return
		case turnFail:
			r.fail("no canary was proved")
		case turnNext:
			r.next()
		}
	}
}

// next begins the next wave, or completes the roll-out.
func (r *run) next() {
	now := r.in.Now.UTC()
	if r.st.Wave < r.last() {
		r.st.Wave++
		r.st.WaveAt = now
		return
	}
	r.st.Phase, r.st.EndedAt = resource.RolloutCompleted, &now
	r.st.Reason, r.st.By = "", ""
}

// prove notes what the canaries have proved.
func (r *run) prove() {
	r.st.Proved = r.st.Proved || r.in.Stamped
	for _, m := range r.st.Members {
		r.st.Proved = r.st.Proved || m.Wave == 0 && m.State == resource.MemberDone
	}
}

// stamp is the server whose boot may stamp the entry: a canary, else any, that was proved
// and still boots it.
func (r *run) stamp() string {
	if r.in.Stamped || r.st.Phase == resource.RolloutRolledBack {
		return ""
	}
	best, wave := "", 0
	for name, m := range r.st.Members {
		s, here := r.servers[name]
		if m.State != resource.MemberDone || !here || !s.Up || s.Boots != s.Target {
			continue
		}
		if best == "" || m.Wave < wave || m.Wave == wave && name < best {
			best, wave = name, m.Wave
		}
	}
	return best
}
