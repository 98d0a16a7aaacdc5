package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"rackboot/integration/benchreport"
)

// load is a way to ask for files.
type load struct {
	what     string
	names    []string
	conns    int
	requests int
}

func (p plan) loads() (out []load) {
	small := make([]string, p.files)
	for n := range small {
		small[n] = smallName(n)
	}
	for _, conns := range []int{1, 32} {
		out = append(out,
			load{fmt.Sprintf("%d small files, %d at once", p.files, conns), small, conns, p.requests},
			load{fmt.Sprintf("a file of %d MiB, %d at once", p.large>>20, conns), []string{largeName}, conns, conns})
	}
	return out
}

// measured is what a server did with a load.
type measured struct {
	files, bytes []float64 // a second, of each round
	cpu          time.Duration
	sent         int64
}

// measureFiles has all servers serve the same files: ours out of an ISO image.
func measureFiles(ctx context.Context, p plan, r *benchreport.Report) (err error) {
	dir, err := os.MkdirTemp("", "rackboot-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // servers that drop their rights read files here
		return err
	}
	if err := p.write(dir); err != nil {
		return err
	}
	in, err := servers(ctx, dir, r)
	defer func() {
		for _, s := range in {
			s.leave()
		}
	}()
	if err != nil {
		return err
	}
	for _, s := range in { // all is in memory after this, and is what it should be
		names := append(p.loads()[0].names, largeName)
		if _, err := s.fetch(ctx, job{Dir: dir, Names: names, Conns: 1, Requests: len(names), Check: true}); err != nil {
			return err
		}
	}
	for _, l := range p.loads() {
		if err := p.measure(ctx, r, in, l); err != nil {
			return err
		}
	}
	group := make([]benchreport.Figure, 0, len(in))
	for _, s := range in {
		u, err := s.used()
		if err != nil {
			return err
		}
		group = append(group, benchreport.Figure{What: "files: peak resident memory", Subject: s.name, Value: u.RSS, Unit: "MiB", Detail: fmt.Sprintf("%.0f of it anonymous at the end", u.Own)})
	}
	r.Add(group...)
	return nil
}

// measure has one load on each server, in rounds.
func (p plan) measure(ctx context.Context, r *benchreport.Report, in []*server, l load) error {
	got := make(map[*server]*measured, len(in))
	rounds := p.rounds
	if len(l.names) > 1 { // each a fraction of a second, in which the machine may do something else
		rounds *= 3
	}
	for round := range rounds {
		for _, s := range benchreport.Rotated(in, round) {
			if got[s] == nil {
				got[s] = &measured{}
			}
			if err := got[s].add(ctx, s, l); err != nil {
				return err
			}
		}
	}
	var group []benchreport.Figure
	for _, s := range in {
		m := got[s]
		if len(l.names) > 1 {
			group = append(group, benchreport.Figure{What: l.what, Subject: s.name, Value: benchreport.Median(m.files), Unit: "files/s"})
		}
		group = append(group,
			benchreport.Figure{What: l.what, Subject: s.name, Value: benchreport.Median(m.bytes), Unit: "MB/s"},
			benchreport.Figure{What: l.what + ": server's CPU", Subject: s.name, Value: float64(m.cpu.Milliseconds()) / (float64(m.sent) / 1e9), Unit: "ms per GB"})
	}
	r.Add(group...)
	return nil
}

// add is one round.
func (m *measured) add(ctx context.Context, s *server, l load) error {
	before, err := s.used()
	if err != nil {
		return err
	}
	o, err := s.fetch(ctx, job{Names: l.names, Conns: l.conns, Requests: l.requests})
	if err != nil {
		return err
	}
	after, err := s.used()
	if err != nil {
		return err
	}
	m.files = append(m.files, float64(l.requests)/o.Took.Seconds())
	m.bytes = append(m.bytes, float64(o.Bytes)/o.Took.Seconds()/1e6)
	m.cpu += after.CPU - before.CPU
	m.sent += o.Bytes
	return nil
}
