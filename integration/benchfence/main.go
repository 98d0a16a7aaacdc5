// Command benchfence measures how long a hard hold takes until the server is fenced,
// without the BMC's own time and without the settle window, alone and while other
// things happen at the same site, and prints a table.
//
//	go run ./integration/benchfence [-full] [-json] [-load LOAD] [-profile FOLDER]
//
// Hub, agent and the simulated BMCs are processes of their own, over loopback; the
// daemons run as their programs run them. It needs nothing but Go on Linux and 3 GB of
// disk (12 GB with -full), ends by itself within some six minutes, and leaves nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// The measurements end after this, whatever happens, and fail.
const limit = 12 * time.Minute

func main() {
	p := plan{OffMin: 300 * time.Millisecond, OffMax: 2300 * time.Millisecond, BootRate: 2_500_000, Images: 8}
	isPart := flag.Bool(childArg[1:], false, "be a part of the site: used by the program itself")
	full := flag.Bool("full", false, "pull 5 GB instead of -pull, twice")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.IntVar(&p.Servers, "servers", 50, "servers that are held")
	flag.IntVar(&p.Holds, "holds", 120, "holds for each load")
	flag.Float64Var(&p.Rate, "rate", 5, "holds each second")
	flag.DurationVar(&p.Settle, "settle", time.Second, "settle window")
	flag.IntVar(&p.Boots, "boots", 50, "servers that boot from the network at once")
	flag.Int64Var(&p.Pull, "pull", 1_000_000_000, "bytes of boot files to pull, twice")
	flag.IntVar(&p.Others, "others", 200, "other racks of 50 servers")
	flag.StringVar(&p.Only, "load", "", "only without load and with this one")
	flag.StringVar(&p.Profile, "profile", "", "folder for CPU profiles of each part under each load")
	flag.Parse()
	if *full {
		p.Pull = 5_000_000_000
	}
	var err error
	if *isPart {
		err = serveChild(os.Stdin, os.Stdout)
	} else {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		var r *result
		if r, err = measure(ctx, os.Stderr, p); r != nil {
			err = errors.Join(err, r.print(os.Stdout, *asJSON))
		}
		stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchfence:", err)
		os.Exit(1)
	}
}

// measure does everything, one load after the other. What was measured before an error
// is returned with it.
func measure(ctx context.Context, progress io.Writer, p plan) (r *result, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	dir, err := os.MkdirTemp("", "benchfence-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := openSite(ctx, p, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	r = &result{
		Settle: p.Settle.Seconds(), OffMin: p.OffMin.Seconds(), OffMax: p.OffMax.Seconds(), Servers: p.Servers,
		Target: target.Milliseconds(), Peers: peers(),
	}
	for i, l := range loads() {
		if i > 0 && p.Only != "" && p.Only != l.name {
			continue
		}
		one, err := s.under(ctx, l)
		if err != nil {
			return r, fmt.Errorf("%s: %w", l.name, err)
		}
		r.add(one)
		fmt.Fprintf(progress, "%s: %d holds, receipt %v ms, %d failed\n", l.name, one.Holds, one.Receipt, one.Failed)
	}
	return r, ctx.Err()
}

// under measures under one load. Holds that fail do not end it.
func (s *site) under(ctx context.Context, l load) (row, error) {
	end, err := l.begin(ctx, s)
	if err != nil {
		return row{}, err
	}
	err = s.profile(l.name)
	good, failed := s.holds(ctx)
	err = errors.Join(err, s.profile(""))
	said, ended := end()
	r := rowOf(l, good, failed, said)
	if len(failed) > 0 {
		r.Said += fmt.Sprintf("; the first failure: %v", failed[0])
	}
	return r, errors.Join(err, ended)
}
