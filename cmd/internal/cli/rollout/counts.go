package rollout

import (
	"fmt"

	"rackboot/protocol/resource"
)

// Counts are servers by state; those that have left are in none.
type Counts map[resource.MemberState]int

// Count counts the servers of a roll-out.
func Count(st resource.RolloutStatus) Counts {
	c := Counts{}
	for _, m := range st.Members {
		c[m.State]++
	}
	return c
}

// Total is how many the roll-out is for.
func (c Counts) Total() (n int) {
	for state, k := range c {
		if state != resource.MemberSkipped {
			n += k
		}
	}
	return n
}

// Phase is the phase, with the wave where one is under way.
func Phase(st resource.RolloutStatus) string {
	at := fmt.Sprintf("wave %d of %d", st.Wave, st.Waves-1)
	if st.Wave == 0 {
		at = "canary"
		if st.Waves > 1 {
			at += fmt.Sprintf(", before wave 1 of %d", st.Waves-1)
		}
	}
	switch st.Phase {
	case resource.RolloutCanary, resource.RolloutWave:
		return at
	case resource.RolloutCompleted:
		return string(st.Phase)
	case resource.RolloutWaiting, resource.RolloutPaused, resource.RolloutAborted, resource.RolloutRolledBack, resource.RolloutFailed, resource.RolloutSuperseded:
	}
	return fmt.Sprintf("%s (%s)", st.Phase, at)
}
