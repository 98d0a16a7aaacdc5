package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	agentdaemon "rackboot/agent/daemon"
	"rackboot/protocol"
	"rackboot/protocol/api"
	"rackboot/protocol/resource"
)

// load is what runs while holds are placed.
type load struct {
	name string
	// begin returns once the load is on; end stops it and says how much it was.
	begin func(ctx context.Context, s *site) (end func() (string, error), err error)
}

func loads() []load {
	alone := []load{
		{"inventory", inventories}, {"pull", pull}, {"boots", boots}, {"neighbours", neighbours}, {"compile", compile},
	}
	all := load{"all", func(ctx context.Context, s *site) (func() (string, error), error) { return together(ctx, s, alone) }}
	return append(append([]load{{"none", nothing}}, alone...), all)
}

func nothing(context.Context, *site) (func() (string, error), error) {
	return func() (string, error) { return "", nil }, nil
}

func together(ctx context.Context, s *site, parts []load) (func() (string, error), error) {
	var ends []func() (string, error)
	end := func() (said string, err error) {
		for i, e := range ends {
			one, failed := e()
			if i > 0 {
				said += "; "
			}
			said, err = said+one, errors.Join(err, failed)
		}
		return said, err
	}
	for _, p := range parts {
		e, err := p.begin(ctx, s)
		if err != nil {
			_, failed := end()
			return nil, errors.Join(err, failed)
		}
		ends = append(ends, e)
	}
	return end, nil
}

// again does something until the returned function is called, by n at once.
func again(ctx context.Context, n int, do func(ctx context.Context, worker int) error) (stop func() (done, failed int64, why error)) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	var good, bad atomic.Int64
	var first atomic.Pointer[error]
	for w := range n {
		all.Go(func() {
			for ctx.Err() == nil {
				switch err := do(ctx, w); {
				case err == nil:
					good.Add(1)
				case ctx.Err() == nil:
					bad.Add(1)
					first.CompareAndSwap(nil, &err)
					sleep(ctx, 100*time.Millisecond)
				}
			}
		})
	}
	return func() (int64, int64, error) {
		cancel()
		all.Wait()
		if why := first.Load(); why != nil {
			return good.Load(), bad.Load(), *why
		}
		return good.Load(), bad.Load(), nil
	}
}

// probers are as many probes as the agent takes at once, and as many that wait.
const probers = 4

// inventories lets the agent read the whole inventory of the BMCs of all servers that
// are held, again and again.
func inventories(ctx context.Context, s *site) (func() (string, error), error) {
	var next atomic.Int64
	held := s.of(groupHeld)
	stop := again(ctx, probers, func(ctx context.Context, _ int) error {
		v := held[int(next.Add(1))%len(held)]
		_, err := s.client.BMCs.Probe(ctx, "bmc-"+v.Name, api.ProbeRequest{})
		return err
	})
	return func() (string, error) {
		good, bad, why := stop()
		return fmt.Sprintf("%d inventories, %d failed (the first: %v)", good, bad, why), nil
	}, nil
}

// pull makes the agent fetch images that it does not have, as fast as lasts while the
// holds are placed.
func pull(ctx context.Context, s *site) (func() (string, error), error) {
	before, begun := s.registry.served.Load(), time.Now()
	lasts := time.Duration(float64(s.plan.Holds) / s.plan.Rate * float64(time.Second))
	s.registry.limited.set(int64(float64(s.plan.Pull) / lasts.Seconds()))
	servers := s.of(groupPull)
	var claims []resource.Object
	first := s.pulled
	for range s.plan.Images {
		claims = append(claims, claim(servers[s.pulled].Name, s.pulls[s.pulled]))
		s.pulled++
	}
	if err := s.apply(ctx, claims); err != nil {
		return nil, err
	}
	for _, server := range servers[first:s.pulled] { // they run: somebody has to say that they may be installed
		if err := s.until(ctx, "the decision about "+server.Name, func() error {
			_, err := s.client.Servers.Adopt(ctx, server.Name, api.AdoptRequest{Reprovision: true, Reason: "load"})
			return err
		}); err != nil {
			return nil, err
		}
	}
	return func() (string, error) {
		took := time.Since(begun)
		s.registry.limited.set(0) // the rest must not reach into the next load
		got := s.registry.served.Load() - before
		said := fmt.Sprintf("%.2f of %.2f GB pulled in %.0f s", float64(got)/1e9, float64(s.plan.Pull)/1e9, took.Seconds())
		return said, s.until(ctx, "the rest of the pull", func() error {
			if got := s.registry.served.Load() - before; got < s.plan.Pull {
				return fmt.Errorf("%d bytes of %d", got, s.plan.Pull)
			}
			return nil
		})
	}, nil
}

// boots boots servers from the network, and lets them read their boot file again and
// again; the second time only that.
func boots(ctx context.Context, s *site) (func() (string, error), error) {
	var before counts
	if err := s.fleet.tell(order{Do: "booted"}, &before); err != nil {
		return nil, err
	}
	if err := s.fleet.tell(order{Do: "read", On: true}, nil); err != nil {
		return nil, err
	}
	if before.Booted == 0 { // each holds its grant once
		var claims []resource.Object
		for _, v := range s.of(groupBoot) {
			claims = append(claims, claim(v.Name, s.boot))
		}
		if err := s.apply(ctx, claims); err != nil {
			return nil, err
		}
	}
	// Firmware loads its file as fast as it can, and counts its digest: work of fifty
	// hosts that has no place on this one. What follows is at a rate.
	err := s.until(ctx, "the network boots", func() error {
		if err := s.fleet.tell(order{Do: "booted"}, &before); err != nil || before.Booted == s.plan.Boots {
			return err
		}
		return fmt.Errorf("%d of %d have booted, %d failed", before.Booted, s.plan.Boots, before.Failed)
	})
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	return func() (string, error) {
		took := time.Since(begun)
		err := s.fleet.tell(order{Do: "read"}, nil)
		var c counts
		err = errors.Join(err, s.fleet.tell(order{Do: "booted"}, &c))
		return fmt.Sprintf("%d of %d booted, %.0f MB/s read, %d failed", c.Booted, s.plan.Boots,
			float64(c.Bytes-before.Bytes)/1e6/took.Seconds(), c.Failed-before.Failed), err
	}, nil
}

// neighbours has a BMC that takes requests and does not answer, and one that answers
// late.
func neighbours(_ context.Context, s *site) (func() (string, error), error) {
	if err := s.fleet.tell(order{Do: "bad", On: true}, nil); err != nil {
		return nil, err
	}
	return func() (string, error) {
		return "one hangs, one waits 3 s before each write", s.fleet.tell(order{Do: "bad"}, nil)
	}, nil
}

// serversPerRack is that of the other racks.
const serversPerRack = 50

// compile changes every other rack of the fleet again and again; each change makes
// the hub look at the whole fleet.
func compile(ctx context.Context, s *site) (func() (string, error), error) {
	if !s.others {
		if err := s.addOthers(ctx); err != nil {
			return nil, err
		}
		s.others = true
	}
	var turn atomic.Int64
	stop := again(ctx, 1, func(ctx context.Context, _ int) error {
		n := turn.Add(1)
		var racks []resource.Object
		for i := range s.plan.Others {
			racks = append(racks, otherRack(i, time.Duration(100+n)*time.Second))
		}
		defer sleep(ctx, time.Second)
		return s.apply(ctx, racks)
	})
	return func() (string, error) {
		good, bad, why := stop()
		return fmt.Sprintf("%d changes of all %d racks with %d servers, %d failed (the first: %v)", good, s.plan.Others, s.plan.Others*serversPerRack, bad, why), nil
	}, nil
}

func otherName(i int) string { return fmt.Sprintf("other-%03d", i) }

func otherRack(i int, soft time.Duration) resource.Object {
	r := &resource.Rack{Spec: resource.RackSpec{SoftTimeout: protocol.Duration(soft)}}
	r.Metadata.Name = otherName(i)
	return r
}

// addOthers makes the other racks. Each has an agent that has joined, so that the hub
// compiles it, and is not connected.
func (s *site) addOthers(ctx context.Context) error {
	var racks, bmcs, servers []resource.Object
	for i := range s.plan.Others {
		racks = append(racks, otherRack(i, 100*time.Second))
		seg := &resource.Segment{Spec: resource.SegmentSpec{
			RackRef: resource.Ref{Name: otherName(i)}, Prefix: fmt.Sprintf("10.%d.0.0/16", i%250), Address: fmt.Sprintf("10.%d.0.1", i%250),
			Pool: resource.Pool{From: fmt.Sprintf("10.%d.1.10", i%250), To: fmt.Sprintf("10.%d.1.250", i%250)}, BaseURL: fmt.Sprintf("http://10.%d.0.1", i%250),
		}}
		seg.Metadata.Name = otherName(i)
		racks = append(racks, seg)
		for j := range serversPerRack {
			name := fmt.Sprintf("%s-%02d", otherName(i), j)
			b := &resource.BMC{Spec: resource.BMCSpec{
				RackRef: resource.Ref{Name: otherName(i)}, Address: fmt.Sprintf("https://10.%d.2.%d", i%250, j+1), CredentialsRef: "local:bmc",
				TLS: resource.BMCTLS{Fingerprint: "sha256:" + strings.Repeat("00", 32)},
			}}
			b.Metadata.Name = name
			bmcs = append(bmcs, b)
			n := &resource.Server{Spec: resource.ServerSpec{
				BMCRef: resource.Ref{Name: name}, SegmentRef: resource.Ref{Name: otherName(i)}, BootMAC: fmt.Sprintf("52:54:01:%02x:%02x:%02x", i/250, i%250, j),
			}}
			n.Metadata.Name = name
			servers = append(servers, n)
		}
	}
	if err := s.apply(ctx, racks); err != nil {
		return err
	}
	for i := range s.plan.Others {
		dir := filepath.Join(s.dir, "others", otherName(i))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if err := s.join(ctx, otherName(i), agentdaemon.Config{DataDir: dir}); err != nil {
			return err
		}
	}
	return s.apply(ctx, append(bmcs, servers...))
}
