package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
)

const (
	username = "bench"
	password = "bench-password"
)

// The servers of the rack, by what is done to them.
const (
	groupHeld  = "held"  // hold after hold
	groupBoot  = "boot"  // boot from the network
	groupPull  = "pull"  // have claims whose images are fetched; they run, and stay so
	groupSlow  = "slow"  // its BMC answers late, on demand
	groupHangs = "hangs" // its BMC takes requests and does not answer, on demand
)

// fleet is the simulator's process.
type fleet struct {
	plan    fleetPlan
	servers []server
	bmcs    []*sim.BMC
	late    gate // answers of the slow BMC
	readers readers
}

const (
	post    = 50 * time.Millisecond
	lateFor = 3 * time.Second
)

func (f *fleet) start(context.Context, func(message)) (any, error) {
	dhcp, err := net.ResolveUDPAddr("udp4", f.plan.DHCP)
	if err != nil {
		return nil, err
	}
	f.readers.dhcp, f.readers.rate = dhcp, f.plan.Rate
	for _, g := range []struct {
		name string
		n    int
	}{{groupHeld, f.plan.Held}, {groupBoot, f.plan.Boot}, {groupPull, f.plan.Pull}, {groupSlow, 1}, {groupHangs, 1}} {
		for i := range g.n {
			if err := f.add(g.name, i, g.n); err != nil {
				return nil, errors.Join(err, f.stop())
			}
		}
	}
	return f.servers, nil
}

func (f *fleet) add(group string, i, of int) error {
	n := len(f.servers)
	mac := net.HardwareAddr{0x52, 0x54, 0, 0, byte(n >> 8), byte(n)}
	p := sim.Plain()
	p.PowerOffDelay = f.plan.OffMin + (f.plan.OffMax-f.plan.OffMin)*time.Duration(i)/time.Duration(of)
	c := hardware.SimulatedConfig{Post: post, Shutdown: post}
	if group == groupBoot {
		c.Firmware = f.readers.firmware(mac)
	}
	m := hardware.NewSimulated(c)
	m.Disk().Install("sha256:bench")
	b, err := sim.New(sim.Config{
		Machine: m, Personality: p, Username: username, Password: password, Logger: slog.New(slog.DiscardHandler), Seed: uint64(n),
		Listen: func() (net.Listener, error) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err == nil && group == groupSlow {
				l = lateListener{l, &f.late}
			}
			return l, err
		},
	})
	if err != nil {
		return err
	}
	if group != groupBoot {
		b.ExternalOn()
	}
	f.bmcs = append(f.bmcs, b)
	f.servers = append(f.servers, server{fmt.Sprintf("%s-%02d", group, i), group, mac.String(), b.Address(), b.Fingerprint()})
	return nil
}

func (f *fleet) do(o order) (any, error) {
	switch o.Do {
	case "on":
		f.bmcs[o.Server].ExternalOn()
		return nil, nil
	case "cut":
		return lastCut(f.bmcs[o.Server].History())
	case "bad":
		f.late.set(o.On)
		reach := sim.ReachOK
		if o.On {
			reach = sim.ReachHangs
		}
		return nil, f.bmcs[len(f.bmcs)-1].SetReach(reach)
	case "read":
		f.readers.on.set(o.On)
		return nil, nil
	case "booted":
		return f.readers.counts(), nil
	}
	return nil, fmt.Errorf("%s is no order for BMCs", o.Do)
}

// lastCut is when the last ForceOff that ended was accepted, and Off shown.
func lastCut(history []sim.Record) (c cut, err error) {
	for _, r := range history {
		switch {
		case r.What == sim.RecordReset && r.Detail == "ForceOff" && (c.Forced.IsZero() || c.Off.After(c.Forced)):
			c.Forced = r.At
		case r.What == sim.RecordPower && r.Detail == "Off":
			c.Off = r.At
		}
	}
	if c.Forced.IsZero() || c.Off.Before(c.Forced) {
		return c, errors.New("the BMC took no ForceOff, or does not show Off")
	}
	return c, nil
}

func (f *fleet) stop() error {
	f.late.set(false)
	f.readers.on.set(false)
	var err error
	for _, b := range f.bmcs {
		err = errors.Join(err, b.Close())
	}
	return err
}
