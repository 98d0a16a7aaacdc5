package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// target is that of the receipt's overhead: docs/BENCHMARKS.md.
const target = 100 * time.Millisecond

// row is what was measured under one load.
type row struct {
	Load   string `json:"load"`
	Holds  int    `json:"holds"`
	Failed int    `json:"failed"`
	// Accepted is how long Holds.Create took: no part of the others.
	Accepted figure `json:"accepted"`
	// Enforced is from the answer to Holds.Create until the agent took the hold.
	Enforced figure `json:"enforced"`
	// Forced is from the answer until the BMC accepted ForceOff; Noticed from Off to
	// the receipt, without the settle window. Receipt is both.
	Forced  figure `json:"forced"`
	Noticed figure `json:"noticed"`
	Receipt figure `json:"receipt"`
	// Visible is Receipt and what it takes until the hub's API says Fenced.
	Visible figure `json:"visible"`
	// Whole is from the answer to the receipt, BMC and settle window included.
	Whole figure `json:"whole"`
	// Ratio is Receipt's p99 by that without load.
	Ratio float64 `json:"ratio_p99"`
	Met   bool    `json:"target_met"`
	Said  string  `json:"load_was,omitempty"`
}

func rowOf(l load, good []sample, failed []error, said string) row {
	r := row{
		Load: l.name, Holds: len(good), Failed: len(failed), Said: said,
		Accepted: figureOf(good, sample.toAccept), Enforced: figureOf(good, sample.toEnforced), Forced: figureOf(good, sample.toForced), Noticed: figureOf(good, sample.notice),
		Receipt: figureOf(good, sample.overhead), Visible: figureOf(good, sample.toVisible), Whole: figureOf(good, sample.whole),
	}
	r.Met = len(failed) == 0 && len(good) > 0 && r.Receipt.P99 <= float64(target.Milliseconds())
	return r
}

// peer is a documented figure of another system; nothing of it was measured here.
type peer struct {
	What    string  `json:"what"`
	Seconds float64 `json:"seconds"`
	Source  string  `json:"source"`
}

// peers are what metal3 adds between a hold and the moment at which the host counts as
// off, by its sources.
func peers() []peer {
	return []peer{
		{"metal3: time of a soft power-off before a hard one", 180, "baremetal-operator: softPowerOffTimeout, a constant"},
		{"metal3: pause before the hard one is tried, at least", 60, "baremetal-operator: back-off of 1 to 2 min after an error"},
		{"metal3: pause between two looks at a host", 60, "baremetal-operator: poll of a provisioned host"},
		{"Ironic: age of the power state that it shows", 120, "ironic: sync_power_state_interval"},
	}
}

// result is everything, as -json prints it.
type result struct {
	Settle  float64 `json:"settle_s"`
	OffMin  float64 `json:"off_min_s"`
	OffMax  float64 `json:"off_max_s"`
	Servers int     `json:"servers"`
	Target  int64   `json:"target_p99_ms"`
	Rows    []row   `json:"rows"`
	Peers   []peer  `json:"peers_documented"`
}

func (r *result) add(one row) {
	r.Rows = append(r.Rows, one)
	if base := r.Rows[0].Receipt.P99; base > 0 {
		r.Rows[len(r.Rows)-1].Ratio = one.Receipt.P99 / base
	}
}

func (r *result) print(out io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	fmt.Fprintf(out, "hard holds on %d servers; ForceOff takes a BMC %.1f to %.1f s, settle window %.1f s; both are left out but in `whole`; ms\n",
		r.Servers, r.OffMin, r.OffMax, r.Settle)
	line := "%-11s %5v %6v  %-24v %-24v %-24v %-24v %-32v %-24v %-24v %v\n"
	fmt.Fprintf(out, line, "load", "holds", "failed", "accepted 50/95/99/max", "enforced", "to ForceOff", "from Off", "receipt, all overhead", "hub says Fenced", "whole", "ratio p99")
	for _, w := range r.Rows {
		met := "missed"
		if w.Met {
			met = "met"
		}
		fmt.Fprintf(out, line, w.Load, w.Holds, w.Failed, w.Accepted, w.Enforced, w.Forced, w.Noticed,
			fmt.Sprintf("%v %s", w.Receipt, met), w.Visible, w.Whole, fmt.Sprintf("%.2f", w.Ratio))
	}
	for _, w := range r.Rows {
		if w.Said != "" {
			fmt.Fprintf(out, "%s: %s\n", w.Load, w.Said)
		}
	}
	fmt.Fprintf(out, "target: p99 of the receipt's overhead at most %d ms\n", r.Target)
	for _, p := range r.Peers {
		fmt.Fprintf(out, "documented, not measured: %s: %.0f s (%s)\n", p.What, p.Seconds, p.Source)
	}
	return nil
}

// String is the four figures in whole milliseconds.
func (f figure) String() string {
	return fmt.Sprintf("%.0f/%.0f/%.0f/%.0f", f.P50, f.P95, f.P99, f.Max)
}
