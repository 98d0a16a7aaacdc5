// Command benchnetboot measures the boot servers beside those that others have
// written, and prints a table with ratios. Each server runs as a process in a network
// namespace of its own, with a veth pair to a namespace of its clients; all are up at
// the same time, and take turns whose order rotates, so that what else the machine
// does hits all alike.
//
//	go run ./integration/benchnetboot [-only dhcp,offers,http,tftp,storm] [-json] [-install]
//
// It needs root on Debian 12. Peers are Kea and dnsmasq (DHCP), nginx (HTTP, HTTPS),
// dnsmasq and tftpd-hpa (TFTP); one that is not installed is printed as missing.
//
// The storm is a room that comes up all at once, in fields of servers that are started for
// them: rounds by turns, median and spread, processor time of server and clients apart. Peers
// are set up for it as we are: Kea has a queue of 4,096 packets and a receive buffer of 4 MiB,
// and is measured without as well; dnsmasq may serve all clients at once; nginx has two
// workers, sendfile and open files cached. HTTPS has a full handshake for each connection.
// Clients speak as EDK2 does: HEAD and GET on one connection, TFTP in blocks of 1468 bytes,
// DISCOVER and REQUEST with the options of PXE, and 4 s until they ask again.
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
const limit = 90 * time.Minute

// debs are the Debian packages of peers and load generator.
const debs = "kea-dhcp4-server kea-admin dnsmasq-base nginx-light tftpd-hpa iproute2"

func main() {
	if what := os.Getenv(childVar); what != "" {
		if err := child(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	var p plan
	install := flag.Bool("install", false, "install the peers by apt-get first: "+debs)
	asJSON := flag.Bool("json", false, "print the figures as JSON")
	flag.StringVar(&p.only, "only", "dhcp,offers,http,tftp", "parts to measure")
	flag.DurationVar(&p.period, "period", 4*time.Second, "time of one DHCP run, whole seconds")
	flag.IntVar(&p.maxRate, "max-rate", 40_000, "highest DHCP rate that is tried, per second")
	flag.IntVar(&p.clients, "clients", 200, "HTTP clients at once")
	flag.Int64Var(&p.size, "size", 32<<20, "bytes of the HTTP file")
	flag.Int64Var(&p.tftp, "tftp-size", 16<<20, "bytes of the TFTP file")
	flag.IntVar(&p.rounds, "rounds", 3, "rounds of each part")
	flag.IntVar(&p.storm, "storm", 500, "servers that boot at once in the storm")
	flag.Int64Var(&p.stormTFTP, "storm-tftp-size", 2<<20, "bytes of the storm's TFTP file")
	flag.Int64Var(&p.stormSize, "storm-size", 15<<20, "bytes of the storm's HTTP file")
	flag.StringVar(&p.field, "field", "", "fields of the storm to measure: dhcp-storm, tftp-stream, tftp, tftp-storm, http, http-storm, https, https-storm; all if empty")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, p, *install, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "benchnetboot:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}

func run(ctx context.Context, out io.Writer, p plan, install, asJSON bool) error {
	if os.Geteuid() != 0 {
		return errors.New("network namespaces need root")
	}
	if p.period < time.Second || p.rounds < 1 || p.clients < 1 || p.maxRate < firstRate || p.tftp < 1 || p.size < 1 {
		return errors.New("a period of at least 1s, a -max-rate of at least 500, and everything else above zero are needed")
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if install {
		if err := benchreport.Install(ctx, strings.Fields(debs)...); err != nil {
			return err
		}
	}
	r := benchreport.New(out, asJSON)
	return errors.Join(measure(ctx, p, r), r.End())
}

// measure does all parts, one after the other.
func measure(ctx context.Context, p plan, r *benchreport.Report) error {
	r.Load("before")
	defer r.Load("after")
	for _, part := range []struct {
		name string
		do   func(context.Context, plan, *benchreport.Report) error
	}{{"dhcp", measureDHCP}, {"offers", measureOffers}, {"http", measureHTTP}, {"tftp", measureTFTP}, {"storm", measureStorm}} {
		if !slices.Contains(strings.Split(p.only, ","), part.name) {
			continue
		}
		if err := part.do(ctx, p, r); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return ctx.Err()
}
