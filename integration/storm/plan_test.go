package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rackboot/integration/storm/rig"
)

// brief is a plan without its functions.
func brief(p plan) (out []string) {
	for _, x := range slices.Concat(p.directed, p.random) {
		out = append(append(out, names(x.faults)...), x.after.String(), x.last.String(), time.Duration(x.dice).String())
	}
	return out
}

// One seed is one plan.
func TestPlanIsOfItsSeed(t *testing.T) {
	none := func(string) bool { return false }
	one := brief(newPlan(7, faults(), none))
	if d := cmp.Diff(one, brief(newPlan(7, faults(), none))); d != "" {
		t.Errorf("the same seed, another plan: %s", d)
	}
	if slices.Equal(one, brief(newPlan(8, faults(), none))) {
		t.Error("another seed, the same plan")
	}
}

// Each fault is there by itself whatever the seed, and by chance only those that are to be
// kept.
func TestPlan(t *testing.T) {
	all := faults()
	marked := all[2].name
	p := newPlan(1, all, func(f string) bool { return f == marked })
	var directed []string
	for _, x := range p.directed {
		directed = append(directed, names(x.faults)...)
		if len(x.faults) > 1 && (len(x.faults) > serversEach || !x.faults[0].each || !x.faults[1].each) {
			t.Errorf("%v strike together", names(x.faults))
		}
	}
	if d := cmp.Diff(slices.Sorted(slices.Values(names(all))), slices.Sorted(slices.Values(directed))); d != "" {
		t.Error(d)
	}
	seen := map[string]bool{}
	for _, x := range p.random {
		f := x.faults[0]
		seen[f.name] = true
		if x.last < f.last/2 || x.last > 2*f.last {
			t.Errorf("%s lasts %s", f.name, x.last)
		}
	}
	for _, f := range all {
		if seen[f.name] == (f.name == marked) {
			t.Errorf("%s by chance: %v", f.name, seen[f.name])
		}
	}
	if len(p.random) > randomMost {
		t.Errorf("%d faults by chance", len(p.random))
	}
	if p := newPlan(1, all[:1], func(string) bool { return true }); len(p.random) != 0 {
		t.Error("a marked fault by chance")
	}
}

// Two faults that strike together have different victims, of every job.
func TestVictims(t *testing.T) {
	jobs := map[string]Job{}
	var servers []*rig.Server
	for i := range 10 {
		v := &rig.Server{Name: fmt.Sprint(i)}
		servers, jobs[v.Name] = append(servers, v), jobOf(i)
	}
	for seed := range uint64(50) {
		seen := map[string]bool{}
		for n := range 2 {
			for _, v := range victims(fault{each: true}, n, jobs, servers, rand.New(rand.NewPCG(seed, 0))) {
				if seen[v.Name] {
					t.Fatalf("seed %d: %s twice", seed, v.Name)
				}
				seen[v.Name] = true
			}
		}
		if len(seen) != len(servers) {
			t.Fatalf("seed %d: %d victims", seed, len(seen))
		}
	}
}

// A fault's name is given once, and what it is about is said.
func TestFaults(t *testing.T) {
	for _, all := range [][]fault{faults(), hubFaults()} {
		whole(t, all)
	}
	seen := map[string]bool{}
	for _, f := range faults() {
		seen[f.name] = true
	}
	for _, n := range smallFaults() {
		if !slices.ContainsFunc(hubFaults(), func(f fault) bool { return f.name == n }) {
			t.Errorf("%q is small, and no fault", n)
		}
	}
	for _, m := range marks() {
		if !seen[m.fault] {
			t.Errorf("a mark is for %q, which is no fault", m.fault)
		}
	}
	if _, err := chosen(faults(), []string{"disk", "oops"}); err == nil {
		t.Error("a fault that does not exist was chosen")
	}
	some, err := chosen(faults(), []string{"kill"})
	if err != nil || len(some) != 3 {
		t.Errorf("chosen %v, %v", names(some), err)
	}
}

// whole looks at a list of faults.
func whole(t *testing.T, all []fault) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range all {
		if f.name == "" || f.damages == "" || f.last <= 0 || f.inject == nil || f.heal == nil {
			t.Errorf("%q is not whole", f.name)
		}
		if seen[f.name] {
			t.Errorf("%q is there twice", f.name)
		}
		seen[f.name] = true
	}
}
