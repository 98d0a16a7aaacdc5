package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"rackboot/integration/storm/judge"
)

// span is a fault as it was. Until is when its consequences end: the next fault of the same
// kind of time, or the end.
type span struct {
	Fault               string
	Servers             []string // empty: all
	From, Healed, Until judge.Time
}

func (s span) of(server string) bool {
	return len(s.Servers) == 0 || server == "" || slices.Contains(s.Servers, server)
}

// mark is a promise that is known to be broken under a fault. One that is kept after all
// fails the run, so that the list says what is so.
type mark struct {
	promise judge.Promise
	fault   string
}

// marks are the rows that are known to be red. Only a promise and a fault are here: what is
// wrong, and what mends it, is for testdata/rows.txt.
func marks() []mark {
	return nil
}

// outcome is a cell of the table.
type outcome string

// The outcomes. The last two fail the run.
const (
	kept         outcome = "kept"
	notExercised outcome = "not exercised"
	knownRed     outcome = "RED, known"
	broken       outcome = "BROKEN"
	healed       outcome = "kept, and marked as red"
)

// calm is the row of what broke without a fault.
const calm = "(no fault)"

// row is a row of the table.
type row struct {
	fault   string
	promise judge.Promise
	outcome outcome
	why     []judge.Violation
	tested  int
}

// fails reports whether the row fails the run.
func (r row) fails(rows bool) bool {
	return r.outcome == broken || r.outcome == healed || rows && r.outcome == notExercised
}

// tabulate is fault by promise. A violation belongs to each fault in whose time it lies, at
// its server; one that lies in none is of no fault. The judge hides nothing: what is in no
// row of a fault is in the row of none.
func tabulate(faults []string, spans []span, v judge.Verdict, marked []mark) []row {
	var out []row
	in := func(fault, server string, from, to judge.Time) bool {
		return slices.ContainsFunc(spans, func(s span) bool {
			return s.Fault == fault && s.of(server) && s.From <= to && from < s.Until
		})
	}
	for _, f := range append(slices.Clone(faults), calm) {
		for _, p := range v.Promises {
			r := row{fault: f, promise: p, outcome: notExercised}
			for _, e := range v.Exercises {
				if e.Promise == p && (f == calm || in(f, e.Server, e.From, e.To)) {
					r.tested++
				}
			}
			for _, x := range v.Violations {
				mine := in(f, x.Server, x.At, x.At)
				if f == calm {
					mine = !slices.ContainsFunc(faults, func(f string) bool { return in(f, x.Server, x.At, x.At) })
				}
				if x.Promise == p && mine {
					r.why = append(r.why, x)
				}
			}
			known := slices.Contains(marked, mark{p, f})
			switch {
			case len(r.why) > 0 && known:
				r.outcome = knownRed
			case len(r.why) > 0:
				r.outcome = broken
			case r.tested > 0 && known:
				r.outcome = healed
			case r.tested > 0:
				r.outcome = kept
			}
			out = append(out, r)
		}
	}
	return out
}

// report prints the table, what was broken, and last the sum. It returns how many failed.
func report(w io.Writer, begun judge.Time, rows []row, skipped map[string]string, all bool) (failed int) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprint(t, "FAULT")
	for _, r := range rows {
		if r.fault == rows[0].fault {
			_, _ = fmt.Fprintf(t, "\t%s", r.promise)
		}
	}
	_, _ = fmt.Fprintln(t)
	last := ""
	passed := 0
	for _, r := range rows {
		if r.fault != last {
			if last != "" {
				_, _ = fmt.Fprintln(t)
			}
			_, _ = fmt.Fprint(t, r.fault)
			last = r.fault
		}
		_, _ = fmt.Fprintf(t, "\t%s", r.outcome)
		switch {
		case r.fails(all):
			failed++
		case r.outcome != notExercised:
			passed++
		}
	}
	_, _ = fmt.Fprintln(t)
	say("\n")
	_ = t.Flush() // a terminal that is gone ends nothing
	for _, r := range rows {
		slices.SortStableFunc(r.why, func(a, b judge.Violation) int { return cmp.Compare(a.At, b.At) })
		for _, x := range r.why {
			say("%s under %s: %.1fs %s: %s\n", r.promise, r.fault, x.At.Sub(begun).Seconds(), cmp.Or(x.Server, "-"), x.Why)
		}
		if r.outcome == healed {
			say("%s under %s: it is kept, and marked as red; take the mark away\n", r.promise, r.fault)
		}
	}
	for _, f := range slices.Sorted(keys(skipped)) {
		say("%s: not exercised: %s\n", f, skipped[f])
	}
	say("%d passed, %d failed\n", passed, failed)
	return failed
}

// keys are a map's keys.
func keys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// at is a time of the storm, for people.
func at(begun, t judge.Time) string {
	return fmt.Sprintf("%6.1fs", t.Sub(begun).Round(100*time.Millisecond).Seconds())
}
