package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rackboot/integration/benchreport"
)

// work is one thing that clients do, a row of the storm's table.
type work struct {
	what  string
	job   job
	unit  string
	value func(told) float64
}

// field is servers that do the same works by turns. Each field has new servers, so that
// their memory is that of its works.
type field struct {
	what    string
	servers []entry
	works   []work
}

// seconds is how long the last client had to wait.
func seconds(t told) float64 { return t.Took.Seconds() }

// megabytes is megabytes a second of so many clients that fetch size bytes each.
func megabytes(clients int, size int64) func(told) float64 {
	return func(t told) float64 { return float64(clients) * float64(size) / 1e6 / t.Took.Seconds() }
}

// requests is how many were answered a second.
func requests(t told) float64 { return float64(t.Requests) / t.Took.Seconds() }

// fields are what the storm is made of.
func (p plan) fields() []field {
	tftp := func(what string, job job, value func(told) float64, unit string) work {
		if job.Size == 0 {
			job.Size = p.stormTFTP
		}
		return work{what: "TFTP, " + what, job: job, unit: unit, value: value}
	}
	http := func(secure bool, what string, job job, value func(told) float64, unit string) work {
		job.Size, job.TLS, job.Period = p.stormSize, secure, p.period
		scheme := "HTTP, "
		if secure {
			scheme = "HTTPS, "
		}
		return work{what: scheme + what, job: job, unit: unit, value: value}
	}
	whole := func(secure bool, clients int) work {
		return http(secure, fmt.Sprintf("%d clients × %d MiB", clients, p.stormSize>>20), job{What: stormHTTP, Clients: clients}, megabytes(clients, p.stormSize), "MB/s")
	}
	small := func(secure bool, clients int) work {
		return http(secure, fmt.Sprintf("4 KiB, %d clients", clients), job{What: packages, Clients: clients}, requests, "/s")
	}
	last := func(secure bool) work {
		return http(secure, fmt.Sprintf("storm of %d × %d MiB, last client", p.storm, p.stormSize>>20), job{What: stormHTTP, Clients: p.storm}, seconds, "s")
	}
	return []field{
		{"dhcp-storm", dhcpServers(), []work{
			{fmt.Sprintf("DHCP, %d leases at once, last client", p.storm), job{What: stormDHCP, Clients: p.storm}, "s", seconds},
		}},
		{"http", httpServers(false, p.stormSize), []work{whole(false, 1), whole(false, 200), small(false, 1), small(false, 60)}},
		{"http-storm", httpServers(false, p.stormSize), []work{last(false)}},
		{"https", httpServers(true, p.stormSize), []work{
			whole(true, 1), whole(true, 60), small(true, 1), small(true, 60),
			http(true, "full handshake and 4 KiB, 60 clients", job{What: shakes, Clients: 60}, requests, "/s"),
		}},
		{"https-storm", httpServers(true, p.stormSize), []work{last(true)}},
		{"tftp-stream", tftpServers(p.tftp, p.storm), []work{
			tftp("no window, 1 stream", job{What: stormTFTP, Clients: 1, Size: p.tftp}, megabytes(1, p.tftp), "MB/s"),
			tftp("window 16, 1 stream", job{What: fetchTFTP, Window: 16, Size: p.tftp}, megabytes(1, p.tftp), "MB/s"),
		}},
		{"tftp", tftpServers(p.stormTFTP, p.storm), []work{
			tftp("no window, 100 streams", job{What: stormTFTP, Clients: 100}, megabytes(100, p.stormTFTP), "MB/s"),
		}},
		{"tftp-storm", tftpServers(p.stormTFTP, p.storm), []work{
			tftp(fmt.Sprintf("storm of %d, last client", p.storm), job{What: stormTFTP, Clients: p.storm}, seconds, "s"),
		}},
	}
}

// measureStorm has the fields at work, one after the other, and the servers of each by
// turns.
func measureStorm(ctx context.Context, p plan, r *benchreport.Report) error {
	for _, f := range p.fields() {
		if p.field != "" && !slices.Contains(strings.Split(p.field, ","), f.what) {
			continue
		}
		if err := p.play(ctx, f, r); err != nil {
			return fmt.Errorf("%s: %w", f.what, err)
		}
	}
	return nil
}

// rounds are what the rounds of a work gave for one server.
type rounds struct {
	values, server, clients []float64 // CPU in seconds
	resent                  []float64
}

func (p plan) play(ctx context.Context, f field, r *benchreport.Report) (err error) {
	in, err := entered(ctx, r, f.what, f.servers)
	defer func() { err = errors.Join(err, leaveAll(in)) }()
	if err != nil {
		return err
	}
	for _, w := range f.works {
		seen := make(map[*contestant]*rounds)
		for round := range p.rounds {
			for _, c := range benchreport.Rotated(in, round) {
				if seen[c] == nil {
					seen[c] = &rounds{}
				}
				if err := seen[c].add(ctx, c, w); err != nil {
					return err
				}
			}
		}
		group := make([]benchreport.Figure, 0, len(in))
		for _, c := range in {
			u, err := c.used()
			if err != nil {
				return err
			}
			s := seen[c]
			group = append(group, benchreport.Figure{
				What: w.what, Subject: c.name, Value: benchreport.Median(s.values), Unit: w.unit, Rounds: s.values,
				Detail: fmt.Sprintf("CPU of server %.2f s, of clients %.2f s, %.0f sent again, RSS %.0f MiB, peak %.0f",
					benchreport.Median(s.server), benchreport.Median(s.clients), benchreport.Median(s.resent), u.Now, u.RSS),
			})
		}
		r.Add(group...)
	}
	return nil
}

func (s *rounds) add(ctx context.Context, c *contestant, w work) error {
	before, err := c.used()
	if err != nil {
		return err
	}
	t, err := c.ask(ctx, w.job)
	if err != nil {
		return err
	}
	after, err := c.used()
	if err != nil {
		return err
	}
	s.values = append(s.values, w.value(t))
	s.server = append(s.server, (after.CPU - before.CPU).Seconds())
	s.clients = append(s.clients, t.CPU.Seconds())
	s.resent = append(s.resent, float64(t.Resent))
	return nil
}
