package main

import (
	"strings"
	"testing"

	"rackboot/integration/storm/judge"
)

func TestTable(t *testing.T) {
	spans := []span{{Fault: "a", From: 10, Healed: 15, Until: 20}, {Fault: "b", Servers: []string{"n1"}, From: 20, Healed: 25, Until: 30}}
	tested := func(server string, from, to judge.Time) judge.Exercise {
		return judge.Exercise{Promise: judge.NoOn, Server: server, From: from, To: to}
	}
	wrong := func(server string, at judge.Time) judge.Violation {
		return judge.Violation{Promise: judge.NoOn, Server: server, At: at, Why: "it came on"}
	}
	marked := func(faults ...string) (out []mark) {
		for _, f := range faults {
			out = append(out, mark{judge.NoOn, f})
		}
		return out
	}
	for _, c := range []struct {
		name    string
		verdict judge.Verdict
		marks   []mark
		a, b, c outcome // of no-on under a, b and no fault
		failed  int
	}{
		{"nothing tested is nothing kept", judge.Verdict{}, nil, notExercised, notExercised, notExercised, 0},
		{"tested under a", judge.Verdict{Exercises: []judge.Exercise{tested("n1", 12, 13)}}, nil, kept, notExercised, kept, 0},
		{"tested in the time after a", judge.Verdict{Exercises: []judge.Exercise{tested("n1", 19, 19)}}, nil, kept, notExercised, kept, 0},
		{"tested across both", judge.Verdict{Exercises: []judge.Exercise{tested("n1", 1, 99)}}, nil, kept, kept, kept, 0},
		{"another server than b's", judge.Verdict{Exercises: []judge.Exercise{tested("n2", 22, 23)}}, nil, notExercised, notExercised, kept, 0},
		{"broken under a", judge.Verdict{Violations: []judge.Violation{wrong("n2", 10)}}, nil, broken, notExercised, notExercised, 1},
		{"broken under b at its server", judge.Verdict{Violations: []judge.Violation{wrong("n1", 20)}}, nil, notExercised, broken, notExercised, 1},
		{"broken at another server is of no fault", judge.Verdict{Violations: []judge.Violation{wrong("n2", 25)}}, nil, notExercised, notExercised, broken, 1},
		{"broken outside of all is of no fault", judge.Verdict{Violations: []judge.Violation{wrong("n1", 31), wrong("n1", 9)}}, nil, notExercised, notExercised, broken, 1},
		{"known", judge.Verdict{Violations: []judge.Violation{wrong("n1", 12)}}, marked("a"), knownRed, notExercised, notExercised, 0},
		{"known of a is not known of b", judge.Verdict{Violations: []judge.Violation{wrong("n1", 22)}}, marked("a"), notExercised, broken, notExercised, 1},
		{"marked, and kept", judge.Verdict{Exercises: []judge.Exercise{tested("n1", 12, 13)}}, marked("a"), healed, notExercised, kept, 1},
		{"marked, and not exercised", judge.Verdict{}, marked("a"), notExercised, notExercised, notExercised, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.verdict.Promises = judge.Promises()
			rows := tabulate([]string{"a", "b"}, spans, c.verdict, c.marks)
			got := map[string]outcome{}
			for _, r := range rows {
				if r.promise == judge.NoOn {
					got[r.fault] = r.outcome
				} else if r.outcome != notExercised {
					t.Errorf("%s under %s is %s", r.promise, r.fault, r.outcome)
				}
			}
			if got["a"] != c.a || got["b"] != c.b || got[calm] != c.c {
				t.Errorf("got %v, want %s, %s, %s", got, c.a, c.b, c.c)
			}
			var out strings.Builder
			if failed := report(&out, 0, rows, nil, false); failed != c.failed {
				t.Errorf("%d failed, want %d:\n%s", failed, c.failed, out.String())
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if last := lines[len(lines)-1]; !strings.HasSuffix(last, " failed") || !strings.Contains(last, " passed, ") {
				t.Errorf("the last line is %q", last)
			}
			if len(c.verdict.Violations) > 0 && !strings.Contains(out.String(), "it came on") {
				t.Error("what was broken is not said")
			}
		})
	}
}

// With -require=rows nothing is left out silently.
func TestEveryRowRequired(t *testing.T) {
	rows := tabulate([]string{"a"}, nil, judge.Verdict{Promises: judge.Promises()}, nil)
	var out strings.Builder
	if failed := report(&out, 0, rows, map[string]string{"a": "needs root"}, true); failed != len(rows) {
		t.Errorf("%d of %d rows failed", failed, len(rows))
	}
	if !strings.Contains(out.String(), "a: not exercised: needs root") {
		t.Errorf("the reason is not said: %s", out.String())
	}
}
