package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"rackboot/integration/storm/rig"
)

// fault is a way to damage a site.
type fault struct {
	name    string
	damages string
	// each says that it is one server's, of which several are damaged at once.
	each bool
	// root says that it needs file systems of its own.
	root bool
	// quiet says that operators wait meanwhile.
	quiet bool
	// last is how long it lasts.
	last time.Duration
	// slack is how much longer somebody's next hold may take than after other faults.
	slack time.Duration
	// inject and heal are called for each server where it is one's, else with nil.
	inject func(ctx context.Context, s *rig.Site, v *rig.Server) error
	heal   func(ctx context.Context, s *rig.Site, v *rig.Server) error
}

// faults are all of them, in the order of the table.
func faults() []fault {
	return slices.Concat(kills(), freezes(), disks(), cuts(), reads(), hands(), clocks(), copies(), flips())
}

// names lists their names.
func names(all []fault) (out []string) {
	for _, f := range all {
		out = append(out, f.name)
	}
	return out
}

// victims are the servers that the n-th of the faults that strike together is given: one of
// each job, so that what the fault meets does not hang on the seed, and others than its
// neighbour's.
func victims(f fault, n int, jobs map[string]Job, servers []*rig.Server, dice *rand.Rand) []*rig.Server {
	if !f.each {
		return []*rig.Server{nil}
	}
	by := map[Job][]*rig.Server{}
	var order []Job
	for _, v := range servers {
		j := jobs[v.Name]
		if len(by[j]) == 0 {
			order = append(order, j)
		}
		by[j] = append(by[j], v)
	}
	var out []*rig.Server
	for _, j := range order {
		out = append(out, by[j][(dice.IntN(len(by[j]))+n)%len(by[j])])
	}
	return out
}
