package probe

import (
	"context"
	"errors"
	"os"
	"time"

	"rackboot/netboot/probe/discard"
	"rackboot/protocol"
)

const (
	// discardTime bounds the work on the disks: the agent gives a boot two hours to report
	// (protocol/decide), and a report that comes later is of no open boot.
	discardTime = 110 * time.Minute
	// leaseTime is after which the address is asked for again before it is used.
	leaseTime = 2 * time.Minute
)

// errStay says that the machine is to stay on, so that nothing is taken for a power
// transition that nobody has ordered.
var errStay = errors.New("stay on")

// discardAndReport discards the disks, if the kernel's arguments permit it, and reports
// booted or failed. What was reported ends with errStay.
func discardAndReport(ctx context.Context, all []card, cfg Config, given map[string]string, post *poster) error {
	begun := time.Now()
	r := discardDisks(ctx, cfg, given, post)
	ctx, cancel := context.WithTimeout(ctx, cfg.Deadline)
	defer cancel()
	if time.Since(begun) > leaseTime {
		if _, err := connect(ctx, all, given[argumentMAC], cfg.URL, cfg.Logger); err != nil {
			return err
		}
	}
	to, err := reportURL(cfg.URL, r.State)
	if err != nil {
		return err
	}
	if err := post.post(ctx, to, r); err != nil {
		return err
	}
	return errStay
}

// discardDisks does the work and says what came of it.
func discardDisks(ctx context.Context, cfg Config, given map[string]string, post *poster) protocol.ProbeReport {
	ctx, cancel := context.WithTimeout(ctx, discardTime)
	defer cancel()
	failed := func(err error) protocol.ProbeReport {
		return protocol.ProbeReport{State: protocol.ProbeFailed, Message: err.Error()}
	}
	ask := func(file string) (string, error) { return post.read(ctx, given[argumentURL]+file) }
	if err := discard.Permitted(true, given, given[argumentURL], ask); err != nil {
		return failed(err)
	}
	method, err := discard.ParseMethod(given[discard.ArgumentMethod])
	if err != nil {
		return failed(err)
	}
	disks, err := discard.Find(os.DirFS("/"))
	if err != nil {
		return failed(err)
	}
	return discard.Report(discard.All(ctx, disks, method, discard.Open, cfg.Logger))
}
