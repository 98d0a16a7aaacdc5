package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rackboot/integration/benchreport"
	"rackboot/integration/fleet"
	"rackboot/integration/sim"
)

// bench is one size that is measured.
type bench struct {
	plan     plan
	size     *size
	progress io.Writer
	hub      *hub
	fleet    *fleet.Fleet
	begun    time.Time
	rest     benchreport.Usage // of the hub at rest
	live     float64           // heap then, in MiB
}

// stage is a part of the measurement. Each begins where the one before has ended.
type stage struct {
	name string
	do   func(*bench, context.Context) error
}

func stages() []stage {
	return []stage{
		{"join", (*bench).join},
		{"install", (*bench).install},
		{"hold while a tenth boots", (*bench).boot},
		{"rest", (*bench).idle},
		{"change", (*bench).change},
		{"scrape", (*bench).scrapes},
		{"list", (*bench).list},
		{"power", (*bench).power},
		{"kill", (*bench).kill},
	}
}

// size measures one size with a hub of its own, and leaves nothing of it.
func (p plan) size(ctx context.Context, s *size, progress io.Writer) (err error) {
	dir, err := os.MkdirTemp(p.Dir, "benchfleet-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	registry, err := sim.StartRegistry("127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, registry.Close()) }()
	image, err := registry.Push("os:1", sim.UKI([]byte("no kernel")))
	if err != nil {
		return err
	}
	b := &bench{plan: p, size: s, progress: progress, begun: time.Now()}
	b.hub, err = newHub(ctx, p, dir, registry.Addr)
	if b.hub != nil {
		defer func() { err = errors.Join(err, b.hub.end()) }()
	}
	if err != nil {
		return err
	}
	b.fleet, err = fleet.Start(ctx, fleet.Config{
		Hub: fleet.Hub{Client: b.hub.client, URL: "https://" + b.hub.api, CA: b.hub.ca}, Dir: filepath.Join(dir, "fleet"),
		Racks: s.Racks, Servers: p.Servers, Image: image, Seed: 1, From: netip.MustParsePrefix("127.80.0.0/16"),
		Within: p.Within, Backoff: p.Pause, Out: io.Discard,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.fleet.Close()) }()
	for _, g := range stages() {
		if err := g.do(b, ctx); err != nil {
			return fmt.Errorf("%s: %w; the hub's log ends with:\n%s", g.name, err, b.hub.tail())
		}
	}
	return nil
}

// add notes a figure, and shows it.
func (b *bench) add(what string, value float64, unit string) {
	b.size.Figures = append(b.size.Figures, figure{what, value, unit})
	fmt.Fprintf(b.progress, "%6.1fs  %d racks: %s %.4g %s\n", time.Since(b.begun).Seconds(), b.size.Racks, what, value, unit)
}

// await notes how long a state took from begun on.
func (b *bench) await(ctx context.Context, what string, s fleet.State, begun, since time.Time) error {
	if _, err := b.fleet.Await(ctx, s, since, b.plan.Within); err != nil {
		return err
	}
	b.add(what, time.Since(begun).Seconds(), "s")
	return nil
}

func (b *bench) join(ctx context.Context) error {
	applied, joined := b.fleet.Took()
	b.add("racks, BMCs and servers applied", applied.Seconds(), "s")
	b.add("all agents joined", joined.Seconds(), "s")
	return b.await(ctx, "and all in step, after they were started", fleet.InStep, time.Now(), time.Time{})
}

// usage is what the hub has used.
func (b *bench) usage() (u benchreport.Usage, err error) {
	err = u.Add(b.hub.cmd.Process.Pid)
	return u, err
}

func (b *bench) install(ctx context.Context) error {
	before, err := b.usage()
	if err != nil {
		return err
	}
	begun := time.Now()
	end := b.profile(ctx, "install", 20*time.Second)
	if _, err := b.fleet.Claim(ctx, fleet.Share{Count: b.first()}); err != nil {
		return err
	}
	if err := b.await(ctx, "nine tenths of the servers installed, after the first claim", fleet.Settled, begun, time.Time{}); err != nil {
		return err
	}
	after, err := b.usage()
	servers := float64(b.first() * b.plan.Servers)
	b.add("the hub's CPU for a server installed", float64((after.CPU-before.CPU).Microseconds())/1000/servers, "ms")
	return errors.Join(err, end())
}

// first is how many racks are claimed first: all but a tenth, and one at least.
func (b *bench) first() int { return max(1, b.size.Racks*9/10) }

// boot holds servers while the rest of the racks are installed.
func (b *bench) boot(ctx context.Context) error {
	end := b.profile(ctx, "boot", min(20*time.Second, b.plan.Over))
	if rest := b.size.Racks - b.first(); rest > 0 {
		if _, err := b.fleet.Claim(ctx, fleet.Share{Count: rest}); err != nil {
			return err
		}
	}
	steps, failed := b.fleet.Holds(ctx, b.plan.Holds, b.plan.Over)
	for _, step := range []string{"accepted", "at agent", "enforced"} {
		p := steps[step]
		b.add("hold "+step+", p50", 1000*p.P50, "ms")
		b.add("hold "+step+", p99", 1000*p.P99, "ms")
		b.add("hold "+step+", at most", 1000*p.Max, "ms")
	}
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d holds failed: %w", len(failed), b.plan.Holds, failed[0])
	}
	_, err := b.fleet.Await(ctx, fleet.Settled, time.Time{}, b.plan.Within)
	return errors.Join(err, end())
}

// idle measures the hub at rest: it has filed what agents said, and what its store read meanwhile is forgotten.
func (b *bench) idle(ctx context.Context) error {
	b.fleet.Spread()
	if err := b.await(ctx, "all is installed, until the hub has acknowledged all events", fleet.Told, time.Now(), time.Time{}); err != nil {
		return err
	}
	if err := pause(ctx, b.plan.Rest); err != nil {
		return err
	}
	begun := time.Now()
	from, err := b.usage()
	if err != nil {
		return err
	}
	if err := pause(ctx, b.plan.Idle); err != nil {
		return err
	}
	if b.rest, err = b.usage(); err != nil {
		return err
	}
	used := (b.rest.CPU - from.CPU).Seconds()
	b.add("CPU at rest", 100*used/time.Since(begun).Seconds(), "% of a core")
	b.add("CPU at rest, in a minute", used*60/time.Since(begun).Seconds(), "s")
	b.add("RSS at rest", b.rest.Now, "MiB")
	b.add("RSS so far, at most", b.rest.RSS, "MiB")
	page, _, err := b.hub.scrape(ctx)
	if err != nil {
		return err
	}
	m := metrics(page)
	b.live = liveHeap(m)
	b.add("messages dropped by queues so far", dropped(m), "")
	size, err := folder(filepath.Join(b.hub.dir, "hub"))
	b.add("the hub's folder", size, "MiB")
	end := b.profile(ctx, "rest", b.plan.Idle/2) // after the figure, which it would be part of
	return errors.Join(err, end())
}

// change measures how long a rack's change takes to its agent.
func (b *bench) change(ctx context.Context) error {
	var all []float64
	for range b.plan.Changes {
		took, err := b.fleet.Change(ctx)
		if err != nil {
			return err
		}
		all = append(all, 1000*took.Seconds())
	}
	b.add("a rack's change at its agent, p50", benchreport.Median(all), "ms")
	b.add("a rack's change at its agent, at most", slices.Max(all), "ms")
	return nil
}

func (b *bench) scrapes(ctx context.Context) error {
	return b.scraped(ctx, "a scrape with series of servers")
}

// scraped measures scrapes as Prometheus makes them, one after the other.
func (b *bench) scraped(ctx context.Context, what string) error {
	var all []float64
	var page []byte
	end := b.profile(ctx, strings.ReplaceAll(what, " ", "-"), 10*time.Second)
	for range b.plan.Scrapes {
		got, took, err := b.hub.scrape(ctx)
		if err != nil {
			return err
		}
		page, all = got, append(all, 1000*took.Seconds())
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
	b.add(what+", p50", benchreport.Median(all), "ms")
	b.add(what+", at most", slices.Max(all), "ms")
	b.add(what+", size", float64(len(page))/(1<<20), "MiB")
	b.add(what+", series", float64(series(page)), "")
	return end()
}

// list measures rackctl get servers, the middle one of three.
func (b *bench) list(ctx context.Context) error {
	var first, all, rss []float64
	for range 3 {
		l, err := b.hub.list(ctx, b.plan.Rackctl)
		if err != nil {
			return err
		}
		if want := b.size.Racks * b.plan.Servers; l.Rows != want {
			return fmt.Errorf("rackctl get servers shows %d of %d servers", l.Rows, want)
		}
		first, all, rss = append(first, 1000*l.First), append(all, l.All), append(rss, l.RSS)
	}
	// A hub at rest may not have collected since it was busy; it has by now.
	page, _, err := b.hub.scrape(ctx)
	if err != nil {
		return err
	}
	b.add("live heap at rest, or after lists if that is less", min(b.live, liveHeap(metrics(page))), "MiB")
	b.add("rackctl get servers, first row", benchreport.Median(first), "ms")
	b.add("rackctl get servers, all", benchreport.Median(all), "s")
	b.add("rackctl get servers, RSS", slices.Max(rss), "MiB")
	return nil
}

// power has all racks lose power, and have it again at once.
func (b *bench) power(ctx context.Context) error {
	if _, err := b.fleet.Lose(fleet.Share{Percent: 100}, 2); err != nil {
		return err
	}
	if err := pause(ctx, b.plan.Dark); err != nil {
		return err
	}
	page, _, err := b.hub.scrape(ctx)
	if err != nil {
		return err
	}
	before := dropped(metrics(page))
	// 5 has VmHWM begin anew: proc(5), clear_refs.
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", b.hub.cmd.Process.Pid), []byte("5"), 0o200); err != nil {
		return err
	}
	from, err := b.usage()
	if err != nil {
		return err
	}
	end := b.profile(ctx, "power", 15*time.Second)
	begun := time.Now()
	b.fleet.Return(0)
	if err := b.await(ctx, "power returns everywhere: all in step", fleet.InStep, begun, begun); err != nil {
		return err
	}
	if err := b.await(ctx, "power returns: two servers of each rack have booted too", fleet.Settled, begun, begun); err != nil {
		return err
	}
	to, err := b.usage()
	if err != nil {
		return err
	}
	if page, _, err = b.hub.scrape(ctx); err != nil {
		return err
	}
	b.add("power returns: the hub's CPU until then", (to.CPU - from.CPU).Seconds(), "s")
	if err := b.await(ctx, "power returns: the hub has acknowledged all events", fleet.Told, begun, begun); err != nil {
		return err
	}
	if to, err = b.usage(); err != nil {
		return err
	}
	b.add("power returns: the hub's CPU until all is acknowledged", (to.CPU - from.CPU).Seconds(), "s")
	b.add("power returns: messages dropped by queues", dropped(metrics(page))-before, "")
	b.add("power returns: RSS at most", to.RSS, "MiB")
	b.add("power returns: RSS at most, to that at rest", to.RSS/b.rest.Now, "")
	return end()
}

// kill kills the hub, and starts it again at once, without series of servers.
func (b *bench) kill(ctx context.Context) error {
	begun := time.Now()
	if err := b.hub.kill(); err != nil {
		return err
	}
	if err := b.hub.start(true); err != nil {
		return err
	}
	end := b.profile(ctx, "restart", 15*time.Second)
	if err := b.hub.ready(ctx); err != nil {
		return err
	}
	b.add("kill -9 of the hub until it is ready", time.Since(begun).Seconds(), "s")
	if err := b.await(ctx, "kill -9 of the hub until all are in step", fleet.InStep, begun, begun); err != nil {
		return err
	}
	if err := b.await(ctx, "kill -9 of the hub until it has acknowledged all events", fleet.Told, begun, begun); err != nil {
		return err
	}
	if err := errors.Join(end(), pause(ctx, b.plan.Idle)); err != nil {
		return err
	}
	return b.scraped(ctx, "a scrape without series of servers")
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// folder is the size of a folder's files, in MiB.
func folder(path string) (mib float64, err error) {
	err = filepath.WalkDir(path, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return unlessGone(err)
		}
		info, err := d.Info()
		if err == nil {
			mib += float64(info.Size()) / (1 << 20)
		}
		return unlessGone(err)
	})
	return mib, err
}

// unlessGone is the error but for a file that the hub has removed meanwhile.
func unlessGone(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
