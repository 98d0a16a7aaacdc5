// Command storm runs a site as processes, damages it in every way that it knows while
// operators work with it by rackctl, and says of each fault and each promise whether it was
// kept. See docs/TESTING.md.
//
//	operator.go  what operators do, each at servers of its own
//	poll.go      what is stored, read by the API again and again
//	fault*.go    the faults, one family a file
//	plan.go      which fault when, out of a seed
//	run.go       the storm
//	table.go     fault by promise, and what is known to break
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rackboot/integration/storm/rig"
)

func main() { os.Exit(storms(os.Args[1:])) }

// storms is the command line. The exit code is 1 where a row failed or there was no storm.
func storms(args []string) int {
	f := flag.NewFlagSet("storm", flag.ContinueOnError)
	c := config{out: os.Stdout}
	var only, require string
	f.StringVar(&c.bin, "bin", "bin", "folder with the programs")
	f.Uint64Var(&c.seed, "seed", chance(), "of the plan of faults and operations; by default that of "+seedVariable+", else a new one")
	f.DurationVar(&c.last, "for", 90*time.Second, "how long the storm blows; each fault once is the least")
	f.StringVar(&only, "faults", "", "beginnings of the faults' names, separated by commas; all if empty")
	f.StringVar(&require, "require", "", "root: nothing is skipped for want of it; rows: every row is exercised")
	f.IntVar(&c.hubs, "hubs", 1, "how many hubs; of two or more, those share a store of three nats-servers and a mosquitto, and the faults are theirs")
	f.BoolVar(&c.small, "small", false, "of several hubs: four faults, each once, in a minute and a half; -for counts for nothing")
	f.BoolVar(&c.keep, "keep", false, "keep logs and state")
	f.BoolVar(&c.verbose, "v", false, "print each operation")
	if err := f.Parse(args); err != nil {
		return 2
	}
	for r := range strings.SplitSeq(require, ",") {
		switch r {
		case "":
		case "root":
			c.root = true
		case "rows":
			c.rows = true
		default:
			return fail(fmt.Errorf("-require %q is not root or rows", r))
		}
	}
	if c.hubs < 1 || c.hubs > hubsMost || c.small && c.hubs == 1 {
		return fail(fmt.Errorf("-hubs is 1 to %d, and -small of 2 or more", hubsMost))
	}
	if c.small {
		c.last = 0
	}
	if only != "" {
		c.faults = strings.Split(only, ",")
	}
	if os.Getuid() == 0 && !rig.PrivateMounts() {
		code, err := rig.WithMounts(c.hubs > 1)
		if err != nil {
			return fail(err)
		}
		return code
	}
	if c.root && !rig.PrivateMounts() {
		return fail(errors.New("-require=root, and this is not root"))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	failed, err := run(ctx, c)
	if err != nil {
		return fail(err)
	}
	if failed > 0 {
		return 1
	}
	return 0
}

// hubsMost is how many hubs share a store.
const hubsMost = 3

// seedVariable names the seed of a check of a commit, so that what it says is of the commit.
const seedVariable = "RACKBOOT_TEST_SEED"

func chance() uint64 {
	if n, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64); err == nil {
		return n
	}
	return rand.Uint64() >> 32
}

func fail(err error) int {
	_, _ = fmt.Fprintf(os.Stderr, "storm: %v\n", err) // nowhere else to say it
	return 1
}
