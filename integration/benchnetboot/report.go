package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// ours is the subject that the others are compared with.
const ours = "rackboot"

// figure is one number about one server.
type figure struct {
	What    string  `json:"what"`
	Subject string  `json:"subject"`
	Value   float64 `json:"value"`
	Unit    string  `json:"unit"`
	// Missing says why there is no value.
	Missing string `json:"missing,omitempty"`
	// Ours is how many times this value ours is; 0 where that says nothing.
	Ours   float64 `json:"ours,omitempty"`
	Detail string  `json:"detail,omitempty"`
}

// report collects figures and prints each group as it comes.
type report struct {
	begun   time.Time
	out     io.Writer
	quiet   bool
	figures []figure
}

// add prints figures of one thing, each beside ours.
func (r *report) add(group ...figure) {
	for i := range group {
		f := &group[i]
		for _, o := range group {
			if o.Subject == ours && o.What == f.What && f.Subject != ours && f.Missing == "" && o.Missing == "" && f.Value > 0 {
				f.Ours = o.Value / f.Value
			}
		}
		r.printf("%6.1fs  %s\n", time.Since(r.begun).Seconds(), f)
	}
	r.figures = append(r.figures, group...)
}

func (f *figure) String() string {
	s := fmt.Sprintf("%-46s %-22s", f.What, f.Subject)
	if f.Missing != "" {
		return s + " missing: " + f.Missing
	}
	s += fmt.Sprintf(" %10.1f %s", f.Value, f.Unit)
	if f.Ours > 0 {
		s += fmt.Sprintf(", ours is %.2f times that", f.Ours)
	}
	if f.Detail != "" {
		s += " (" + f.Detail + ")"
	}
	return s
}

// load notes how busy the machine is.
func (r *report) load(when string) {
	raw, err := os.ReadFile("/proc/loadavg")
	var load float64
	if err == nil {
		_, err = fmt.Sscan(string(raw), &load)
	}
	f := figure{What: "load of the machine, " + when, Subject: "-", Value: load, Unit: "processes, of the last minute"}
	if err != nil {
		f.Missing = err.Error()
	}
	r.add(f)
}

func (r *report) printf(format string, args ...any) {
	if !r.quiet {
		fmt.Fprintf(r.out, format, args...)
	}
}

// median is the middle value; of an even number, the lower of the two.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(values))[(len(values)-1)/2]
}

// rotated is the list with another beginning each round.
func rotated[T any](list []T, round int) []T {
	if len(list) == 0 {
		return nil
	}
	n := round % len(list)
	return slices.Concat(list[n:], list[:n])
}

// oneLine is what a program said, for a message.
func oneLine(said string) string { return strings.Join(strings.Fields(said), " ") }

// last is the last line of what a program said.
func last(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return lines[len(lines)-1]
}
