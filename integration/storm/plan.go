package main

import (
	"math/rand/v2"
	"slices"
	"time"
)

// strike is what the plan does at once: a fault, or two of one server's each, at different
// servers. After is the pause before it, counted from the time at which
// the one before was healed and the site had come back.
type strike struct {
	faults []fault
	after  time.Duration
	last   time.Duration
	dice   uint64 // chooses the victims
}

// plan is the storm: first each fault by itself, in the order of the table, so that each row
// is there whatever the seed; then faults by chance, without those whose row is known to be
// red. The same seed is the same plan.
type plan struct {
	directed []strike
	random   []strike
}

// randomMost bounds the faults by chance; an hour has fewer.
const randomMost = 4096

func newPlan(seed uint64, all []fault, marked func(fault string) bool) plan {
	dice := rand.New(rand.NewPCG(seed, 0))
	var p plan
	var calm []fault
	for _, f := range all {
		p.directed = join(p.directed, strike{faults: []fault{f}, after: 300 * time.Millisecond, last: f.last, dice: dice.Uint64()})
		if !marked(f.name) {
			calm = append(calm, f)
		}
	}
	for len(calm) > 0 && len(p.random) < randomMost {
		f := calm[dice.IntN(len(calm))]
		p.random = append(p.random, strike{
			faults: []fault{f},
			after:  time.Duration(dice.Int64N(int64(2 * time.Second))),
			last:   f.last/2 + time.Duration(dice.Int64N(int64(f.last))),
			dice:   dice.Uint64(),
		})
	}
	return p
}

// join adds a strike, together with the last one where both are faults of one server's and
// there is none with it yet: their victims differ.
func join(all []strike, x strike) []strike {
	i := slices.IndexFunc(all, func(y strike) bool { return len(y.faults) == 1 && y.faults[0].each && x.faults[0].each })
	if i < 0 {
		return append(all, x)
	}
	all[i].faults = append(all[i].faults, x.faults...)
	all[i].last = max(all[i].last, x.last)
	return all
}
