package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
)

// result is everything, as -json writes it.
type result struct {
	Date    string `json:"date"`
	Commit  string `json:"commit,omitempty"`
	Machine host   `json:"machine"`
	Servers int    `json:"serversOfARack"`
	Sizes   []size `json:"sizes"`
}

// size is what was measured with so many racks.
type size struct {
	Racks      int      `json:"racks"`
	LoadBefore float64  `json:"loadBefore"` // of the machine, over the last minute; the bench's own is in it
	LoadAfter  float64  `json:"loadAfter"`
	Figures    []figure `json:"figures"`
}

// figure is one number.
type figure struct {
	What  string  `json:"what"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
}

// value finds a figure.
func (s size) value(what string) (float64, bool) {
	for _, f := range s.Figures {
		if f.What == what {
			return f.Value, true
		}
	}
	return 0, false
}

// targets are the most that a figure is to be at 1,000 racks of 50 servers.
func targets() map[string]float64 {
	return map[string]float64{
		"CPU at rest":        10,
		"RSS at rest":        600 * 1000 * 1000 / (1 << 20),
		"hold enforced, p99": 100,
		"kill -9 of the hub until all are in step":  15,
		"a scrape with series of servers, p50":      1000,
		"a scrape without series of servers, p50":   100,
		"rackctl get servers, first row":            200,
		"rackctl get servers, RSS":                  64 * 1000 * 1000 / (1 << 20),
		"power returns: messages dropped by queues": 0,
	}
}

// decade is how many times a figure grows with ten times the racks, from the smallest size to the largest that have
// it; false where that says nothing.
func (r result) decade(what string) (float64, bool) {
	var low, high size
	for _, s := range r.Sizes {
		v, ok := s.value(what)
		if !ok || v <= 0 {
			continue
		}
		if low.Racks == 0 || s.Racks < low.Racks {
			low = s
		}
		if s.Racks > high.Racks {
			high = s
		}
	}
	if low.Racks == high.Racks {
		return 0, false
	}
	a, _ := low.value(what)
	b, _ := high.value(what)
	return math.Pow(10, math.Log(b/a)/math.Log(float64(high.Racks)/float64(low.Racks))), true
}

// print writes the table: a row for each figure, in the order in which they came.
func (r result) print(out io.Writer) {
	if len(r.Sizes) == 0 {
		return
	}
	fmt.Fprintf(out, "%s, commit %s, %d CPUs (%s), %d MiB, %s; %d servers in each rack\n", r.Date, r.Commit, r.Machine.CPUs, r.Machine.Model, r.Machine.Memory, r.Machine.Go, r.Servers)
	fmt.Fprintf(out, "%-62s", "racks")
	for _, s := range r.Sizes {
		fmt.Fprintf(out, " %10d", s.Racks)
	}
	fmt.Fprintf(out, " %10s %10s\n%-62s", "x 10", "target", "load before / after")
	for _, s := range r.Sizes {
		fmt.Fprintf(out, " %10s", fmt.Sprintf("%.1f / %.1f", s.LoadBefore, s.LoadAfter))
	}
	fmt.Fprintln(out)
	wanted := targets()
	for _, f := range r.rows() {
		name := f.What
		if f.Unit != "" {
			name += ", " + f.Unit
		}
		fmt.Fprintf(out, "%-62s", name)
		for _, s := range r.Sizes {
			if v, ok := s.value(f.What); ok {
				fmt.Fprintf(out, " %10.4g", v)
			} else {
				fmt.Fprintf(out, " %10s", "-")
			}
		}
		grows, most := "", ""
		if g, ok := r.decade(f.What); ok {
			grows = fmt.Sprintf("%.2f", g)
		}
		if t, ok := wanted[f.What]; ok {
			most = fmt.Sprintf("%.0f", t)
		}
		fmt.Fprintf(out, " %10s %10s\n", grows, most)
	}
}

// rows are the figures of all sizes, each once: a size that ended early has fewer.
func (r result) rows() (out []figure) {
	for _, s := range r.Sizes {
		if len(s.Figures) > len(out) {
			out = s.Figures
		}
	}
	return out
}

// write writes JSON to a file, or - for out; empty is nowhere.
func (r result) write(file string, out io.Writer) error {
	if file == "" {
		return nil
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	raw = append(raw, '\n')
	if file == "-" {
		_, err = out.Write(raw)
		return err
	}
	return os.WriteFile(file, raw, 0o644) //nolint:gosec // figures
}
