package sim

import (
	"errors"
	"net"
	"time"

	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// FleetConfig configures many BMCs that are alike.
type FleetConfig struct {
	Size        int
	Personality Personality // its tree is shared
	Username    string
	Password    string
	// Machine makes the machine of a BMC; nil makes simulated ones with a POST of
	// a second.
	Machine func(i int) hardware.Machine
	// Listen opens the listener of a BMC, as Config.Listen; nil is 127.0.0.1 with
	// a free port.
	Listen func(i int) (net.Listener, error)
	Seed   uint64 // of the latencies: each BMC draws its own
}

// Fleet is BMCs for benchmarks. They share the tree and nothing else.
type Fleet struct{ bmcs []*BMC }

// NewFleet makes a fleet. It fails as New does, and keeps nothing then.
func NewFleet(config FleetConfig) (*Fleet, error) {
	if config.Size < 1 {
		return nil, protocol.Errorf(protocol.CodeInvalid, "sim.new_fleet", "a fleet of %d", config.Size)
	}
	if config.Personality.Tree == nil {
		config.Personality.Tree = tree.Generic()
	}
	if config.Machine == nil {
		config.Machine = func(int) hardware.Machine { return hardware.NewSimulated(hardware.SimulatedConfig{Post: time.Second}) }
	}
	f := &Fleet{bmcs: make([]*BMC, 0, config.Size)}
	for i := range config.Size {
		c := Config{
			Machine: config.Machine(i), Personality: config.Personality,
			Username: config.Username, Password: config.Password, Seed: config.Seed + uint64(i),
		}
		if config.Listen != nil {
			c.Listen = func() (net.Listener, error) { return config.Listen(i) }
		}
		b, err := New(c)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		f.bmcs = append(f.bmcs, b)
	}
	return f, nil
}

// BMCs are the fleet's BMCs, in the order of their numbers.
func (f *Fleet) BMCs() []*BMC { return append([]*BMC(nil), f.bmcs...) }

// Close closes all.
func (f *Fleet) Close() error {
	var failed error
	for _, b := range f.bmcs {
		failed = errors.Join(failed, b.Close())
	}
	return failed
}
