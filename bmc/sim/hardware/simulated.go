package hardware

import (
	"context"
	"sync"
	"time"

	"rackboot/bmc/sim/delay"
	"rackboot/protocol"
)

// SimulatedConfig configures a simulated machine.
type SimulatedConfig struct {
	Post     time.Duration // from power to the pick of the boot device
	Shutdown time.Duration // from the power button to off, while a system runs
	Firmware Firmware      // nil: network targets fail, an installed disk boots
	Disk     *Disk         // nil: a new empty one
	// Order is what is tried without an override, and after one that fails, until
	// one boots; empty is the EFI shell.
	Order []protocol.BootTarget
	// Changed is called with each new state, in order, and with MachinePost again for a
	// reset; nil is not. It must not call the machine.
	Changed func(State)
}

// Simulated is a machine without hardware. Without an override and an order it
// stops in the EFI shell, which is the order that Rackboot asks operators to set.
type Simulated struct {
	config SimulatedConfig
	disk   *Disk

	mu      sync.Mutex
	state   State
	current *run
	closed  bool
	running sync.WaitGroup
}

// run is the time between power-on or reset and the next.
type run struct {
	ctx    context.Context
	cancel context.CancelFunc
	board  Board
}

var _ Machine = (*Simulated)(nil)

// NewSimulated makes a machine that is off.
func NewSimulated(config SimulatedConfig) *Simulated {
	if config.Disk == nil {
		config.Disk = new(Disk)
	}
	return &Simulated{config: config, disk: config.Disk, state: Off}
}

// Disk is the machine's disk.
func (m *Simulated) Disk() *Disk { return m.disk }

// State is the state now.
func (m *Simulated) State() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// PowerOn applies power and returns while POST runs.
func (m *Simulated) PowerOn(board Board) error {
	m.mu.Lock()
	if m.closed || m.state != Off {
		m.mu.Unlock()
		return protocol.Errorf(protocol.CodeConflict, "machine.power_on", "power is on, or the machine is gone")
	}
	m.start(board)
	m.mu.Unlock()
	return nil
}

// start begins a run. m.mu is held.
func (m *Simulated) start(board Board) {
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{ctx: ctx, cancel: cancel, board: board}
	m.current = r
	m.set(Post)
	m.running.Go(func() {
		board.MachineChanged(Post) // before it hears of a pick
		m.boot(r)
	})
}

// set changes the state. m.mu is held.
func (m *Simulated) set(state State) {
	m.state = state
	if m.config.Changed != nil {
		m.config.Changed(state)
	}
}

// boot is a machine's firmware: POST, the pick of the device, the boot.
func (m *Simulated) boot(r *run) {
	if !delay.Pause(r.ctx, m.config.Post) {
		return
	}
	target := r.board.NextBoot()
	r.board.BootConsumed(target)
	m.advance(r, Booting)
	order := append([]protocol.BootTarget{target}, m.config.Order...)
	if target == protocol.TargetSetup {
		order = nil // it stays in its menus
	}
	for _, t := range order {
		if m.bootFrom(r, t) {
			m.advance(r, Running)
			return
		}
		if r.ctx.Err() != nil {
			return
		}
	}
	m.advance(r, Shell)
}

func (m *Simulated) bootFrom(r *run, target protocol.BootTarget) bool {
	switch target {
	case protocol.TargetHdd:
		if m.disk.Digest() == "" {
			return false
		}
	case protocol.TargetPxe, protocol.TargetUefiHTTP, TargetCd, TargetUsbCd:
		if m.config.Firmware == nil {
			return false
		}
	default:
		return false
	}
	if m.config.Firmware == nil {
		return true
	}
	return m.config.Firmware.Boot(r.ctx, &Guest{machine: m, run: r}, target) == nil
}

// advance sets the state if the run is still the current one.
func (m *Simulated) advance(r *run, state State) {
	m.mu.Lock()
	ok := m.current == r && m.state != state
	if ok {
		m.set(state)
	}
	m.mu.Unlock()
	if ok {
		r.board.MachineChanged(state)
	}
}

// cut ends a run and the power.
func (m *Simulated) cut(r *run) {
	m.mu.Lock()
	ok := r != nil && m.current == r
	if ok {
		r.cancel()
		m.current = nil
		m.set(Off)
	}
	m.mu.Unlock()
	if ok {
		r.board.MachineChanged(Off)
	}
}

func (m *Simulated) reset(r *run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.current == r && !m.closed {
		r.cancel()
		m.start(r.board)
	}
}

// Shutdown presses the power button. Only a running system heeds it: firmware
// and the EFI shell do not, here as in OVMF.
func (m *Simulated) Shutdown() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.current; r != nil && m.state == Running && !m.closed {
		m.running.Go(func() {
			if delay.Pause(r.ctx, m.config.Shutdown) {
				m.cut(r)
			}
		})
	}
	return nil
}

// PowerOff cuts power at once.
func (m *Simulated) PowerOff() error {
	m.mu.Lock()
	r := m.current
	m.mu.Unlock()
	m.cut(r)
	return nil
}

// Close cuts power and waits for the firmware to return.
func (m *Simulated) Close() error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	err := m.PowerOff()
	m.running.Wait()
	return err
}
