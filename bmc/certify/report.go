package certify

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
)

// Bounds of a report: of an hour of orders what matters is how often each went how, how long it took,
// and what went wrong first.
const (
	maxTimes = 4096 // of a line
	maxSteps = 200  // that did not pass
)

// Line is all tries of one check of one kind.
type Line struct {
	Check Check           `json:"check"`
	What  string          `json:"what,omitempty"`
	Count map[Outcome]int `json:"count"`
	// Median and Longest are of those that passed; 0 without one.
	Median  time.Duration `json:"median"`
	Longest time.Duration `json:"longest"`

	times []time.Duration
}

// Worst is the worst outcome of the line.
func (l Line) Worst() Outcome {
	for _, o := range slices.Backward(Outcomes()) {
		if l.Count[o] > 0 {
			return o
		}
	}
	return Passed
}

// Report is what was found out.
type Report struct {
	Vendor   string              `json:"vendor"`
	Model    string              `json:"model"`
	Serial   string              `json:"serial,omitempty"`
	System   string              `json:"system"`
	Firmware string              `json:"firmware,omitempty"` // of the BMC
	BIOS     string              `json:"bios,omitempty"`
	Began    time.Time           `json:"began"`
	Ended    time.Time           `json:"ended"`
	Settle   time.Duration       `json:"settle"`
	Cycles   int                 `json:"cycles"` // that were completed
	Before   protocol.PowerState `json:"before"`
	After    protocol.PowerState `json:"after"`
	Lines    []Line              `json:"lines"`
	// Steps are those that did not pass, the first ones; Left says how many more there were.
	Steps []Step `json:"steps"`
	Left  int    `json:"left,omitempty"`
}

// Passed reports whether nothing was found with which the machine cannot be trusted. Reads that gave no
// power state are counted only: what counts is that what was ordered was read in time.
func (r *Report) Passed() bool {
	return r.Cycles > 0 && !r.faulty()
}

func (r *Report) faulty() bool {
	return slices.ContainsFunc(r.Lines, func(l Line) bool { return l.Check != CheckRead && l.Worst().Fault() })
}

// add counts a step.
func (r *Report) add(s Step) {
	i := slices.IndexFunc(r.Lines, func(l Line) bool { return l.Check == s.Check && l.What == s.What })
	if i < 0 {
		r.Lines, i = append(r.Lines, Line{Check: s.Check, What: s.What, Count: map[Outcome]int{}}), len(r.Lines)
	}
	l := &r.Lines[i]
	l.Count[s.Outcome]++
	if s.Outcome == Passed {
		l.Longest = max(l.Longest, s.Took)
		if len(l.times) < maxTimes {
			l.times = append(l.times, s.Took)
		}
		return
	}
	if s.Outcome == NotOffered || s.Outcome == NoMark { // once says all
		if l.Count[s.Outcome] > 1 {
			return
		}
	}
	if len(r.Steps) == maxSteps {
		r.Left++
		return
	}
	r.Steps = append(r.Steps, s)
}

// close orders the lines and computes what is computed once.
func (r *Report) close(now time.Time) {
	r.Ended = now
	for i := range r.Lines {
		if times := slices.Sorted(slices.Values(r.Lines[i].times)); len(times) > 0 {
			r.Lines[i].Median = times[len(times)/2]
		}
	}
	slices.SortStableFunc(r.Lines, func(a, b Line) int { return slices.Index(Checks(), a.Check) - slices.Index(Checks(), b.Check) })
}

// Markdown is the report as a page.
func (r *Report) Markdown() string {
	var b strings.Builder
	verdict := "Nothing was found that keeps Rackboot from booting and fencing this machine."
	switch {
	case r.Cycles == 0 && !r.faulty():
		verdict = "Not one cycle was completed: nothing is known of this machine yet."
	case !r.Passed():
		verdict = "Not everything that was ordered came to be: see below before this machine is trusted with a fence."
	}
	fmt.Fprintf(&b, "# %s %s\n\n%s\n\n", text(r.Vendor), text(r.Model), verdict)
	fmt.Fprintf(&b, "- System: `%s`, serial number %s\n- BMC firmware: %s, BIOS: %s\n", text(r.System), text(r.Serial), text(r.Firmware), text(r.BIOS))
	fmt.Fprintf(&b, "- From %s to %s: %d cycles, Off read for %s each\n", r.Began.UTC().Format(time.RFC3339), r.Ended.UTC().Format(time.RFC3339), r.Cycles, r.Settle)
	fmt.Fprintf(&b, "- Power before: %s, after: %s\n\n", r.Before, r.After)
	b.WriteString("| check | of | outcomes | median | longest |\n|---|---|---|---|---|\n")
	for _, l := range r.Lines {
		var counts []string
		for _, o := range Outcomes() {
			if n := l.Count[o]; n > 0 {
				counts = append(counts, fmt.Sprintf("%s %d", o, n))
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", l.Check.Words(), text(l.What), strings.Join(counts, ", "), span(l.Median), span(l.Longest))
	}
	if len(r.Steps) > 0 {
		b.WriteString("\n## What did not pass\n\n| when | check | outcome | after | words | what to do |\n|---|---|---|---|---|---|\n")
	}
	for _, s := range r.Steps {
		fmt.Fprintf(&b, "| %s | %s %s | %s | %s | %s | %s |\n", s.At.UTC().Format(time.TimeOnly), s.Check, text(s.What), s.Outcome, span(s.Took), text(s.Words), text(s.Hint))
	}
	if r.Left > 0 {
		fmt.Fprintf(&b, "\nAnd %d more.\n", r.Left)
	}
	return b.String()
}

// text is a cell: what a BMC says must not end it.
func text(s string) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case c == '|', c == '`', c == '<', c == '>':
			return ' '
		case c < ' ', c == 0x7f:
			return ' '
		}
		return c
	}, s)
	if s = strings.TrimSpace(s); s == "" {
		return "-"
	}
	return s
}

func span(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return d.Round(time.Millisecond).String()
}
