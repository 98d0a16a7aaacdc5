package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rackboot/integration/benchreport"
)

const (
	perfdhcp = "perfdhcp"
	// maxDrop is the share of exchanges that may be lost.
	maxDrop = 0.0002
	// perfBuffer is what perfdhcp's socket may hold: ACKs of one fsync come all at once.
	perfBuffer = 8 << 20
	// firstRate is the rate that the search begins with; it doubles until the server
	// loses too much, and then halves the gap so many times.
	firstRate = 500
	halvings  = 4
	// maxOwn is the share of exchanges that perfdhcp itself may spoil: what it does not
	// read, no server has to go on with.
	maxOwn = 0.05
	// behind is how much slower than asked perfdhcp may be: then it is the limit.
	behind = 0.9
)

func dhcpServers() []entry {
	return []entry{
		{benchreport.Ours, "ss", func(dir string) (*exec.Cmd, error) { return self(job{What: serveDHCP, Dir: dir}) }, listens("-u sport = :67")},
		keaEntry("kea memfile, threads", tuned(true)),
		keaEntry("kea memfile, 1 thread", tuned(false)),
		keaEntry("kea memfile, untuned", kea{}),
		{"dnsmasq", "dnsmasq", func(dir string) (*exec.Cmd, error) {
			return exec.Command("dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--port=0", "--interface="+serverDevice, "--no-ping", //nolint:noctx // it is ended by its contestant
				"--dhcp-range="+poolFrom+","+poolTo+",255.255.0.0,1h", "--dhcp-lease-max=100000", "--quiet-dhcp",
				"--dhcp-leasefile="+filepath.Join(dir, "leases"), "--pid-file=", "--user=root", "--log-facility=-"), nil
		}, listens("-u sport = :67")},
	}
}

func keaEntry(name string, k kea) entry { return entry{name, "kea-dhcp4", k.command, k.ready} }

// measureDHCP finds the rate of four-way exchanges of each server.
func measureDHCP(ctx context.Context, p plan, r *benchreport.Report) (err error) {
	what := fmt.Sprintf("DHCPv4 exchanges at %g %% loss", 100*maxDrop)
	if _, missing := exec.LookPath(perfdhcp); missing != nil {
		r.Add(benchreport.Figure{What: what, Subject: "all", Missing: perfdhcp + " is not installed"})
		return nil
	}
	in, err := entered(ctx, r, what, slices.DeleteFunc(dhcpServers(), func(e entry) bool {
		return e.program == "dnsmasq" // a twentieth as fast, which takes a search its time; it takes part in the storm
	}))
	defer func() { err = errors.Join(err, leaveAll(in)) }()
	if err != nil {
		return err
	}
	best, answered, limited := make(map[*contestant][]float64), make(map[*contestant]int), make(map[*contestant]bool)
	for range p.rounds {
		searches := make(map[*contestant]*search)
		for _, c := range in {
			searches[c] = newSearch(firstRate, p.maxRate, halvings)
		}
		for round, busy := 0, true; busy; round++ {
			busy = false
			for _, c := range benchreport.Rotated(in, round) {
				rate, more := searches[c].next()
				if !more {
					continue
				}
				busy = true
				got, err := c.load(ctx, rate, 50_000, p.period)
				if err != nil {
					return err
				}
				r.Printf("  %s: asked %d/s, got %.0f/s, lost %.2f %%, generator lost %d", c.name, rate, got.rate(p.period), 100*got.lost(), got.own)
				searches[c].tried(rate, got.rate(p.period), got.good(), got.slow(rate, p.period))
				answered[c] += got.received
			}
		}
		for _, c := range in {
			best[c] = append(best[c], searches[c].best)
			limited[c] = limited[c] || searches[c].limited
		}
	}
	group := make([]benchreport.Figure, 0, 2*len(in))
	for _, c := range in {
		u, err := c.used()
		if err != nil {
			return err
		}
		detail := u.String()
		if limited[c] {
			detail += "; the load generator was the limit"
		}
		group = append(group,
			benchreport.Figure{What: what, Subject: c.name, Value: benchreport.Median(best[c]), Unit: "/s", Rounds: best[c], Detail: detail},
			benchreport.Figure{What: what + ": CPU of one", Subject: c.name, Value: float64(u.CPU.Microseconds()) / float64(max(1, answered[c])), Unit: "µs", Detail: "of all rates that were tried"})
	}
	r.Add(group...)
	return nil
}

// measureOffers has servers that know so many machines make offers, at a rate that
// is higher than any can.
func measureOffers(ctx context.Context, p plan, r *benchreport.Report) (err error) {
	const what = "OFFERs, known machines"
	if _, missing := exec.LookPath(perfdhcp); missing != nil {
		r.Add(benchreport.Figure{What: what, Subject: "all", Missing: perfdhcp + " is not installed"})
		return nil
	}
	sizes := []int{100, 1_000, 10_000}
	var in []*contestant
	defer func() { err = errors.Join(err, leaveAll(in)) }()
	for _, n := range sizes {
		c, err := enter(ctx, strconv.Itoa(n)+" machines", func(dir string) (*exec.Cmd, error) {
			return self(job{What: serveDHCP, Dir: dir, Machines: n})
		}, listens("-u sport = :67"))
		if err != nil {
			return err
		}
		in = append(in, c)
	}
	rates, cpu := make(map[*contestant][]float64), make(map[*contestant][]float64)
	for round := range 2*p.rounds + 1 {
		for i, c := range benchreport.Rotated(in, round) {
			n := sizes[(i+round)%len(sizes)]
			before, err := c.used()
			if err != nil {
				return err
			}
			got, err := c.load(ctx, p.maxRate, n, p.period, "-i")
			if err != nil {
				return err
			}
			after, err := c.used()
			if err != nil {
				return err
			}
			if round == 0 || got.received == 0 { // the first offers fill the pool
				continue
			}
			rates[c] = append(rates[c], float64(got.received)/p.period.Seconds())
			cpu[c] = append(cpu[c], float64((after.CPU-before.CPU).Microseconds())/float64(got.received))
		}
	}
	var group []benchreport.Figure
	first := in[0]
	for _, c := range in {
		group = append(group,
			benchreport.Figure{
				What: what, Subject: c.name, Value: benchreport.Median(rates[c]), Unit: "/s",
				Detail: fmt.Sprintf("%.2f of 100 machines; saturated, generator on the same cores", benchreport.Median(rates[c])/benchreport.Median(rates[first])),
			},
			benchreport.Figure{
				What: what + ": CPU of an offer", Subject: c.name, Value: benchreport.Median(cpu[c]), Unit: "µs",
				Detail: fmt.Sprintf("as many offers for the same CPU: %.2f of 100 machines", benchreport.Median(cpu[first])/benchreport.Median(cpu[c])),
			})
	}
	r.Add(group...)
	return nil
}

// load has perfdhcp ask at a rate, as a relay, for so many clients.
func (c *contestant) load(ctx context.Context, rate, clients int, period time.Duration, options ...string) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, period+20*time.Second)
	defer cancel()
	args := append([]string{
		"-4", "-r", strconv.Itoa(rate), "-R", strconv.Itoa(clients), "-p", strconv.Itoa(int(period / time.Second)),
		"-W", "1000000", "-l", clientDevice,
	}, options...)
	before, err := c.overflown(ctx)
	if err != nil {
		return outcome{}, err
	}
	cmd := exec.CommandContext(ctx, perfdhcp, append(args, serverAddress)...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := c.client.Start(cmd); err != nil {
		return outcome{}, err
	}
	for tries := 0; enlarge(c.client, perfBuffer) != nil && tries < 20; tries++ { // what it cannot be given, it is said to have lost itself
		time.Sleep(10 * time.Millisecond)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 3) { // 3: some were lost
		return outcome{}, fmt.Errorf("%s: %w: %s", perfdhcp, err, last(out.String()))
	}
	o, err := parsePerf(out.String())
	if err != nil {
		return o, err
	}
	after, err := c.overflown(ctx)
	o.own = after - before
	return o, err
}

// overflown is how many packets the kernel has thrown away in the clients' namespace
// because perfdhcp did not read them in time.
func (c *contestant) overflown(ctx context.Context) (int, error) {
	text, err := c.client.Output(ctx, "cat /proc/net/snmp")
	if err != nil {
		return 0, err
	}
	return counter(text, "Udp:", "RcvbufErrors")
}
