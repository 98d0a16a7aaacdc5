// Command benchfleet measures a hub with many racks, and prints a table and JSON.
//
//	go run ./integration/benchfleet [-bin bin] [-racks 100,300,1000] [-servers 50] [-json FILE] [-profile FOLDER]
//
// The hub is the program rackboot-hub as it is released, with an own folder, on loopback; the agents, which have no
// racks (integration/fleet), and an image registry are this process, so that what the hub uses is the hub's. It needs
// no root, ends by itself, and leaves nothing. Where a state does not come in time it says which, prints what was
// measured before, and ends with 1.
//
// With -profile the hub is this program run once more, which has net/http/pprof on loopback, and profiles of its
// processor and heap are written; its figures are not those of rackboot-hub to the last per cent.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rackboot/integration/fleet"
)

// hubArg makes a process the hub whose file follows, with profiles at the address that follows that.
const hubArg = "-hub-with-profiles"

func main() {
	if len(os.Args) == 4 && os.Args[1] == hubArg {
		exit(runHub(os.Args[2], os.Args[3]))
	}
	p := plan{Rest: 3 * time.Minute, Idle: time.Minute, Dark: 10 * time.Second, Within: 15 * time.Minute, Changes: 20, Scrapes: 5, Profiled: 20 * time.Second}
	bin := flag.String("bin", "bin", "folder with rackboot-hub and rackctl")
	racks := flag.String("racks", "100,300,1000", "sizes of the fleet, one after the other")
	jsonFile := flag.String("json", "", "file to write JSON to; - is standard output")
	limit := flag.Duration("limit", 90*time.Minute, "the end of all of it, whatever happens")
	flag.IntVar(&p.Servers, "servers", 50, "servers of a rack")
	flag.IntVar(&p.Holds, "holds", 300, "holds while a tenth of the racks boots")
	flag.DurationVar(&p.Over, "over", 30*time.Second, "time over which they are placed")
	flag.DurationVar(&p.Rest, "rest", p.Rest, "how long after the last event the hub is taken for at rest; the NATS server forgets what it read after two minutes")
	flag.DurationVar(&p.Idle, "idle", p.Idle, "how long the hub is measured at rest")
	flag.DurationVar(&p.Dark, "dark", p.Dark, "how long the racks are without power; from 45 s on the hub takes them for dark")
	flag.DurationVar(&p.Within, "within", p.Within, "how long each state may take to come")
	flag.StringVar(&p.Dir, "dir", "", "folder for the hub's folder, such as /dev/shm (default: that for temporary files)")
	flag.StringVar(&p.Profile, "profile", "", "folder for profiles of the hub")
	flag.StringVar(&p.Commit, "commit", "", "what is measured, for the JSON")
	flag.Parse()
	p.Hub, p.Rackctl = filepath.Join(*bin, "rackboot-hub"), filepath.Join(*bin, "rackctl")
	err := p.sizes(*racks)
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		ctx, cancel := context.WithTimeout(ctx, *limit)
		var r result
		r, err = measure(ctx, p, os.Stderr)
		r.print(os.Stdout)
		err = errors.Join(err, r.write(*jsonFile, os.Stdout))
		cancel()
		stop()
	}
	exit(err)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchfleet:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// plan is what is measured, and how.
type plan struct {
	Racks    []int
	Servers  int // of each rack
	Holds    int // while a tenth of the racks boots
	Over     time.Duration
	Rest     time.Duration // from the last event until the hub is at rest
	Idle     time.Duration // that it is measured then
	Dark     time.Duration // without power
	Within   time.Duration // for each state
	Changes  int
	Scrapes  int
	Hub      string // program; empty is this one
	Rackctl  string // program
	Dir      string
	Profile  string
	Profiled time.Duration // each profile at most
	Commit   string
	Pause    time.Duration // between two connections of an agent at most; 0 is that of the link
}

// sizes reads the numbers of racks.
func (p *plan) sizes(text string) error {
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > maxRacks {
			return fmt.Errorf("-racks: %q is not 1 to %d", word, maxRacks)
		}
		p.Racks = append(p.Racks, n)
	}
	return nil
}

// maxRacks is as many as a fleet may have.
const maxRacks = fleet.MaxRacks

// measure measures each size with a hub of its own. What was measured before an error is returned with it.
func measure(ctx context.Context, p plan, progress io.Writer) (r result, err error) {
	r = result{Date: time.Now().UTC().Format(time.RFC3339), Commit: p.Commit, Machine: machine(), Servers: p.Servers}
	for _, n := range p.Racks {
		s := size{Racks: n, LoadBefore: load()}
		err := p.size(ctx, &s, progress)
		s.LoadAfter = load()
		r.Sizes = append(r.Sizes, s)
		if err != nil {
			return r, fmt.Errorf("%d racks: %w", n, err)
		}
	}
	return r, nil
}
