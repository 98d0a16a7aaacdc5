package faults

import (
	"context"
	"slices"
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
	orderer  int         // 1 and the disk of the agent whose On comes next
	round    int         // of changes: a timer of an earlier one does nothing
	ons      int         // times it came on
	netboots map[string]int
	claim    string // the claim for which the present On was sent

	lastRan bool // when mains was cut

	dark   bool                   // without mains, and so is its BMC
	policy protocol.RestorePolicy // when mains returns
	shown  protocol.PowerState    // what its BMC shows instead of the truth; empty is none
	drops  int                    // orders that it accepts and forgets
	late   time.Duration          // by which it does the next On later
	due    time.Time              // when an On that it has accepted comes; zero is none
	offs   []time.Time            // reads of Off, since it was last read otherwise
	runs   []span
}

// span is a time in which a machine ran; a zero end is that it still does.
type span struct {
	from, to time.Time
	seen     bool // an agent read it while it ran
	ours     int  // 1 and the disk of the agent that switched it on; 0 is somebody else
}

func newMachine(name string, b *book, power protocol.PowerState) *machine {
	return &machine{name: name, book: b, power: power, netboots: map[string]int{}, policy: protocol.RestoreAlwaysOn}
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

// reset does what the agent with that disk ordered.
func (m *machine) reset(r bmc.ResetType, disk int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.drops > 0 {
		m.drops--
		return nil
	}
	switch {
	case r == bmc.ResetOn && m.power == protocol.PowerOff && !m.due.IsZero(): // it is on its way
	case r == bmc.ResetOn && m.power == protocol.PowerOff:
		takes := onLatency + m.late
		m.orderer, m.late, m.due = disk+1, 0, time.Now().Add(takes)
		m.later(takes, m.on)
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
	switch {
	case m.dark:
	case m.power == protocol.PowerOff:
		m.on()
	default:
		m.later(0, m.off)
	}
}

// mains is cut, or returns.
func (m *machine) mains(there bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dark != there {
		return
	}
	m.dark = !there
	ran := m.power != protocol.PowerOff
	switch {
	case !there:
		m.round++ // nothing that was planned comes
		m.orderer, m.due = 0, time.Time{}
		m.lastRan = ran
		m.off()
	case m.policy == protocol.RestoreAlwaysOn, m.policy == protocol.RestoreLastState && m.lastRan:
		m.later(onLatency, m.on)
	}
}

// show has the BMC show something else than what is so, or no more.
func (m *machine) show(power protocol.PowerState) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shown = power
}

// forget has the BMC accept the next order and do nothing.
func (m *machine) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drops++
}

// lag has the BMC do the next On later than any other.
func (m *machine) lag(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.late = d
}

// comes says whether an On of the agent with that disk is still to come.
func (m *machine) comes(disk int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.due.IsZero() && m.orderer == disk+1
}

// gap is the longest time between two reads of Off that lie in a time.
func (m *machine) gap(from, to time.Time) (longest time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := time.Time{}
	for _, at := range m.offs {
		if at.Before(from.Add(-time.Millisecond)) || at.After(to) {
			continue
		}
		if !last.IsZero() {
			longest = max(longest, at.Sub(last))
		}
		last = at
	}
	return longest
}

// mend ends everything that is odd about the hardware.
func (m *machine) mend() {
	m.mains(true)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shown, m.drops, m.late = "", 0, 0
}

func (m *machine) off() {
	if n := len(m.runs); m.power != protocol.PowerOff && n > 0 {
		m.runs[n-1].to = time.Now()
	}
	m.power = protocol.PowerOff
}

// ran says whether the machine ran at any moment of a time, as far as the agent with that
// disk can know: what somebody switched on and off again between two of its reads,
// nothing here tells it of.
func (m *machine) ran(disk int, from, to time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.runs {
		if !r.seen && r.ours != disk+1 {
			continue
		}
		if !r.from.After(to) && (r.to.IsZero() || r.to.After(from)) {
			return true
		}
	}
	return false
}

func (m *machine) on() {
	if m.power == protocol.PowerOff {
		m.runs = append(m.runs, span{from: time.Now(), ours: m.orderer})
	}
	m.orderer, m.due = 0, time.Time{}
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

// unheard says why an order does not arrive.
func (d *driver) unheard() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dark {
		return protocol.Errorf(protocol.CodeTimeout, "bmc", "no mains")
	}
	return d.gone()
}

var _ bmc.RestorePolicer = (*driver)(nil)

// RestorePolicy implements bmc.RestorePolicer.
func (d *driver) RestorePolicy(context.Context) (protocol.RestorePolicy, error) {
	if err := d.unheard(); err != nil {
		return "", err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.policy, nil
}

// SetRestorePolicy implements bmc.RestorePolicer.
func (d *driver) SetRestorePolicy(_ context.Context, want protocol.RestorePolicy) (protocol.RestorePolicy, error) {
	d.agent.acts.Add(1)
	if err := d.unheard(); err != nil {
		return "", err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	before := d.policy
	d.policy = want
	return before, nil
}

// Observe implements bmc.Driver.
func (d *driver) Observe(context.Context) (protocol.Observation, error) {
	d.agent.looks.Add(1)
	if err := d.gone(); err != nil {
		return protocol.Observation{Power: protocol.PowerUnreachable, Code: protocol.CodeUnavailable, Error: err.Error()}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	power := d.power
	if n := len(d.runs); n > 0 && power != protocol.PowerOff {
		d.runs[n-1].seen = true
	}
	switch {
	case d.dark:
		err := protocol.Errorf(protocol.CodeTimeout, "bmc", "no mains")
		return protocol.Observation{Power: protocol.PowerUnreachable, Code: protocol.CodeTimeout, Error: err.Error()}, err
	case d.shown != "":
		power = d.shown
	}
	if power != protocol.PowerOff {
		d.offs = nil
	} else if d.offs = append(d.offs, time.Now()); len(d.offs) > 2000 {
		d.offs = slices.Clone(d.offs[1000:])
	}
	return protocol.Observation{Source: protocol.SourcePoll, Power: power, Override: d.override}, nil
}

// Capabilities implements bmc.Driver.
func (*driver) Capabilities(context.Context) (bmc.Capabilities, error) {
	return bmc.Capabilities{}, nil
}

// SetBoot implements bmc.Driver.
func (d *driver) SetBoot(_ context.Context, want protocol.Override) (bmc.BootResult, error) {
	d.agent.acts.Add(1)
	if err := d.unheard(); err != nil {
		return bmc.BootResult{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.override = want
	return bmc.BootResult{Stored: want, Read: want, Outcome: bmc.BootStored}, nil
}

// Reset implements bmc.Driver. The book is told before anything happens.
func (d *driver) Reset(_ context.Context, r bmc.ResetType) error {
	d.agent.acts.Add(1)
	if err := d.unheard(); err != nil {
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
	return d.reset(r, o.agent.generation)
}

// Close implements bmc.Driver.
func (*driver) Close() error { return nil }
