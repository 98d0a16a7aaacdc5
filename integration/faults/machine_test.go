package faults

import (
	"context"
	"sync"
	"time"

	"rackboot/bmc"
	"rackboot/protocol"
)

// How long the simulated hardware takes.
const (
	onLatency  = 2 * time.Second  // from On to a running server
	post       = 40 * time.Second // until firmware takes the override
	offLatency = time.Second
	osShutdown = 20 * time.Second
)

// machine is a server with its BMC. It counts what it was made to do.
type machine struct {
	name string
	book *book

	mu       sync.Mutex
	power    protocol.PowerState
	override protocol.Override
	change   *time.Timer // to the next state
	round    int         // of changes: a timer of an earlier one does nothing
	ons      int         // times it came on
	netboots map[string]int
	claim    string // the claim for which the present On was sent
}

func newMachine(name string, b *book, power protocol.PowerState) *machine {
	return &machine{name: name, book: b, power: power, netboots: map[string]int{}}
}

func (m *machine) state() protocol.PowerState {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.power
}

// later plans the next change; the one that was planned before does not come.
func (m *machine) later(d time.Duration, change func()) {
	m.round++
	round := m.round
	if m.change != nil {
		m.change.Stop()
	}
	m.change = time.AfterFunc(d, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.round == round {
			change()
		}
	})
}

func (m *machine) reset(r bmc.ResetType) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case r == bmc.ResetOn && m.power == protocol.PowerOff:
		m.later(onLatency, m.on)
	case r == bmc.ResetForceOff && m.power != protocol.PowerOff:
		m.later(offLatency, m.off)
	case r == bmc.ResetGracefulShutdown && m.power == protocol.PowerOn:
		m.power = protocol.PowerPoweringOff
		m.later(osShutdown, m.off)
	}
	return nil
}

// button is pressed by somebody at the rack.
func (m *machine) button() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.power == protocol.PowerOff {
		m.on()
	} else {
		m.later(0, m.off)
	}
}

func (m *machine) off() { m.power = protocol.PowerOff }

func (m *machine) on() {
	m.power = protocol.PowerOn
	m.ons++
	m.later(post, func() {
		if m.override.Armed() && m.override.Target == protocol.TargetUefiHTTP {
			m.netboots[m.claim]++
			m.book.netboot(m.name, m.claim, m.netboots[m.claim])
		}
		m.override = protocol.Override{Target: protocol.TargetNone, Enabled: protocol.OverrideDisabled}
	})
}

// driver is one run of an agent at the machine's BMC.
type driver struct {
	*machine
	agent   *agent
	process *process
}

func (d *driver) gone() error {
	if d.process.dead.Load() {
		return protocol.Errorf(protocol.CodeUnavailable, "bmc", "the agent that asks is dead")
	}
	return nil
}

// Observe implements bmc.Driver.
func (d *driver) Observe(context.Context) (protocol.Observation, error) {
	if err := d.gone(); err != nil {
		return protocol.Observation{Power: protocol.PowerUnreachable, Code: protocol.CodeUnavailable, Error: err.Error()}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return protocol.Observation{Source: protocol.SourcePoll, Power: d.power, Override: d.override}, nil
}

// Capabilities implements bmc.Driver.
func (*driver) Capabilities(context.Context) (bmc.Capabilities, error) {
	return bmc.Capabilities{}, nil
}

// SetBoot implements bmc.Driver.
func (d *driver) SetBoot(_ context.Context, want protocol.Override) (bmc.BootResult, error) {
	if err := d.gone(); err != nil {
		return bmc.BootResult{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.override = want
	return bmc.BootResult{Stored: want, Read: want, Outcome: bmc.BootStored}, nil
}

// Reset implements bmc.Driver. The book is told before anything happens.
func (d *driver) Reset(_ context.Context, r bmc.ResetType) error {
	if err := d.gone(); err != nil {
		return err
	}
	d.mu.Lock()
	o := order{agent: d.agent, server: d.name, reset: r, running: d.power != protocol.PowerOff, episode: d.ons}
	o.network = d.override.Armed() && d.override.Target == protocol.TargetUefiHTTP
	d.mu.Unlock()
	claim := d.book.ordered(o)
	if r == bmc.ResetOn {
		d.mu.Lock()
		d.claim = claim
		d.mu.Unlock()
	}
	return d.reset(r)
}

// Close implements bmc.Driver.
func (*driver) Close() error { return nil }
