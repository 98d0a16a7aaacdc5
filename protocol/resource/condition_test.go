package resource

import (
	"slices"
	"testing"
)

// What the registry gives out is the caller's own: who changes it changes nothing for others.
func TestConditionsStay(t *testing.T) {
	code := conditions[slices.IndexFunc(conditions, func(c Condition) bool { return len(c.DependsOn) > 0 })].Code
	before, _ := LookupCondition(code)
	want := before.DependsOn[0]
	given, _ := LookupCondition(code)
	all := Conditions()
	for _, c := range append(all, given) {
		clear(c.DependsOn)
	}
	clear(all)
	again, ok := LookupCondition(code)
	if !ok || again.DependsOn[0] != want || Conditions()[0].Code != conditions[0].Code {
		t.Errorf("%s depends on %q, want %q", code, again.DependsOn, want)
	}
	failures := AttemptFailures()
	clear(failures)
	if _, ok := LookupAttempt(AttemptNoDHCP); !ok {
		t.Error("a failure is gone")
	}
}

// BenchmarkLookupCondition finds the first of the registry, one in its middle and the last.
func BenchmarkLookupCondition(b *testing.B) {
	for _, code := range []ConditionCode{CondHeld, CondRotating, CondRemoteRepo} {
		b.Run(string(code), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := LookupCondition(code); !ok {
					b.Fatal("not there")
				}
			}
		})
	}
}
