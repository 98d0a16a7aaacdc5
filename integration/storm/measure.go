package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"rackboot/integration/powerlog"
	"rackboot/integration/storm/judge"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// probeFor bounds a probe: what is not there by then is a violation.
const probeFor = 30 * time.Second

// probe holds the server that is for it, from now on until the hold is accepted and Fenced, and releases it. It is not
// ended with a fault: what it waits for may need the heal.
func (s *storm) probe(ctx context.Context, fault string, slack time.Duration) judge.Probe {
	o := s.desks[len(s.desks)-1]
	p := judge.Probe{Fault: fault, Slack: slack, Server: o.server, From: powerlog.Now()}
	within, cancel := context.WithTimeout(ctx, probeFor)
	defer cancel()
	if o.hold(within, false) {
		p.Accepted = powerlog.Now()
		until(within, probeFor, func() bool { return s.fenced(within, o.held) })
		if s.fenced(ctx, o.held) {
			p.Fenced = powerlog.Now()
		}
	}
	p.To = powerlog.Now()
	return p
}

// fenced asks whichever hub answers.
func (s *storm) fenced(ctx context.Context, hold string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	h, err := api.Get[*resource.Hold](ctx, s.site.Client, hold)
	return err == nil && h.Status.State == resource.StateFenced
}

// watchHeads notes what the agent says of itself.
func (s *storm) watchHeads(ctx context.Context) {
	for ctx.Err() == nil {
		ask, cancel := context.WithTimeout(ctx, pollFor)
		heads, fence, err := s.site.Heads(ask)
		cancel()
		if err == nil {
			s.heads = append(s.heads, judge.Heads{At: powerlog.Now(), Applied: heads, Fence: fence})
		}
		pause(ctx, time.Second)
	}
}

// times prints how long after each fault a hold was accepted, and Fenced.
func times(w io.Writer, probes []judge.Probe) {
	type both struct{ accepted, fenced []time.Duration }
	by := map[string]*both{}
	var order []string
	for _, p := range probes {
		if by[p.Fault] == nil {
			by[p.Fault] = &both{}
			order = append(order, p.Fault)
		}
		if p.Accepted > 0 {
			by[p.Fault].accepted = append(by[p.Fault].accepted, p.Accepted.Sub(p.From))
		}
		if p.Fenced > 0 {
			by[p.Fault].fenced = append(by[p.Fault].fenced, p.Fenced.Sub(p.From))
		}
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "\nFROM FAULT TO A HOLD\tn\taccepted p50\tmax\tFenced p50\tmax")
	for _, f := range order {
		a, b := by[f].accepted, by[f].fenced
		_, _ = fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\n", f, len(a), half(a), most(a), half(b), most(b))
	}
	_ = t.Flush() // a terminal that is gone ends nothing
}

func half(all []time.Duration) string {
	if len(all) == 0 {
		return "-"
	}
	return inSeconds(slices.Sorted(slices.Values(all))[(len(all)-1)/2])
}

func most(all []time.Duration) string {
	if len(all) == 0 {
		return "-"
	}
	return inSeconds(slices.MaxFunc(all, cmp.Compare[time.Duration]))
}

func inSeconds(d time.Duration) string { return fmt.Sprintf("%.2fs", d.Seconds()) }
