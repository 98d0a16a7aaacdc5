// Command benchfs measures boot environments.
//
//	files   served out of what they came in, beside nginx and the same server with the
//	        extracted files, with ratios
//	render  an installer's files for many servers
//	swap    files of servers exchanged under load, without a torn read
//
// Servers of files run at the same time as processes of their own, over loopback, and take
// turns whose order rotates, so that what else the machine does hits all alike; the client is
// one more process.
//
//	go run ./integration/benchfs [-only files,render,swap] [-json] [-install]
//
// An nginx that is not installed is printed as missing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"rackboot/integration/benchreport"
)

// The measurements end after this, whatever the servers do, and fail.
const limit = 20 * time.Minute

// packages are the Debian packages of peers.
const packages = "nginx-light"

// plan is what is measured.
type plan struct {
	only     string
	files    int   // small ones
	large    int64 // bytes of the large one
	requests int   // for small files in a round
	rounds   int   // the median counts
	servers  int   // that are rendered for
	swaps    time.Duration
}

// parts are what can be measured, in order.
func parts() []part {
	return []part{{"files", measureFiles}, {"render", measureRender}, {"swap", measureSwap}}
}

type part struct {
	name string
	do   func(context.Context, plan, *benchreport.Report) error
}

func main() {
	if what := os.Getenv(childVar); what != "" {
		if err := child(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	names := make([]string, 0, len(parts()))
	for _, one := range parts() {
		names = append(names, one.name)
	}
	var p plan
	install := flag.Bool("install", false, "install the peers by apt-get first: "+packages)
	asJSON := flag.Bool("json", false, "print the figures as JSON")
	flag.StringVar(&p.only, "only", strings.Join(names, ","), "parts to measure")
	flag.IntVar(&p.files, "files", 2000, "small files, of 1 to 64 KiB")
	flag.Int64Var(&p.large, "large", 256<<20, "bytes of the large file")
	flag.IntVar(&p.requests, "requests", 10_000, "requests for small files in a round")
	flag.IntVar(&p.rounds, "rounds", 5, "rounds of each server, three times as many of small files")
	flag.IntVar(&p.servers, "servers", 1000, "servers that are rendered for")
	flag.DurationVar(&p.swaps, "swaps", 10*time.Second, "how long files are exchanged under load")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, p, *install, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "benchfs:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

func run(ctx context.Context, out io.Writer, p plan, install, asJSON bool) error {
	if p.files < 1 || p.large < 1 || p.requests < 1 || p.rounds < 1 || p.servers < 1 || p.swaps < time.Second {
		return errors.New("everything is at least one")
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if install {
		if err := benchreport.Install(ctx, strings.Fields(packages)...); err != nil {
			return err
		}
	}
	r := benchreport.New(out, asJSON)
	r.Load("before")
	for _, one := range parts() {
		if !slices.Contains(strings.Split(p.only, ","), one.name) {
			continue
		}
		if err := one.do(ctx, p, r); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	r.Load("after")
	return r.End()
}
