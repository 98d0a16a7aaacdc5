package sim

import (
	"log/slog"
	"sync"
	"time"

	"rackboot/bmc/sim/delay"
	"rackboot/bmc/sim/hardware"
	"rackboot/protocol"
)

// power does what changes the power of a system, and is the board of its machine. Its
// methods are safe for concurrent use.
type power struct {
	uri      string // of the system
	machine  hardware.Machine
	manner   *manner
	tags     *tags
	diary    *diary
	jobs     *jobs
	supply   *supply
	bios     *bios
	override *override
	tasks    *delay.Later
	logger   *slog.Logger

	mu      sync.Mutex
	epoch   uint64 // grows with each command, so that older delays end without effect
	offAt   time.Time
	resetAt time.Time // of the last accepted reset
	begun   bool      // the boot was begun before the machine said so
	masked  bool      // a restart by the BMC itself is not shown as Off
	ons     onOrders
	mains   bool
	wasOn   bool // when mains power was lost
}

// onOrders are On that are accepted and not done: so many that are dropped, and one that comes later.
type onOrders struct {
	drop int
	late bool
}

var _ hardware.Board = (*power)(nil)

// NextBoot implements hardware.Board.
func (s *power) NextBoot() protocol.BootTarget { return s.override.next() }

// BootConsumed implements hardware.Board.
func (s *power) BootConsumed(target protocol.BootTarget) { s.override.consumed(target) }

// BootURI implements hardware.Board.
func (s *power) BootURI() string { return s.override.uri() }

// Drives implements hardware.Board.
func (s *power) Drives() []*hardware.Medium { return s.override.slots.inserted() }

// MachineChanged implements hardware.Board.
func (s *power) MachineChanged(state hardware.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tags.touch(s.uri)
	// Only what the machine is now counts: calls can overtake each other.
	switch {
	case s.machine.State() == hardware.Off:
		if s.masked {
			return
		}
		s.offAt = time.Now()
		s.supply.set(protocol.PowerOff)
	case state == hardware.Post:
		s.supply.reset()
		if !s.begun {
			s.beginBoot()
		}
		s.begun, s.masked = false, false
		if s.supply.now() != protocol.PowerPoweringOff {
			s.supply.set(protocol.PowerOn)
		}
		if s.override.takeJob() {
			s.restart("BIOS job")
		}
	}
}

// beginBoot puts into force what waits for a reset. s.mu is held.
func (s *power) beginBoot() {
	s.supply.begin()
	s.override.begin()
	s.bios.begin()
	s.jobs.finish(s.uri)
	s.tags.touch(s.uri)
}

// later does something after a delay unless the BMC is closed first, or a
// newer power command came. s.mu is held by the caller, not by what is done.
func (s *power) later(d time.Duration, do func()) {
	epoch := s.epoch
	s.tasks.After(d, func() {
		s.mu.Lock()
		stale := s.epoch != epoch
		s.mu.Unlock()
		if !stale {
			do()
		}
	})
}

// powerOn starts the machine after the delay. s.mu is held.
func (s *power) powerOn() {
	p := s.manner.now()
	s.epoch++
	if !s.masked {
		s.supply.set(protocol.PowerPoweringOn)
	}
	if !s.masked && s.manner.spend(func(p *Personality) *int { return &p.Power.OnFallsBack }) {
		s.later(p.PowerOnDelay, s.settle)
		return
	}
	s.beginBoot()
	s.begun = true
	s.later(p.PowerOnDelay, func() {
		if err := s.machine.PowerOn(s); err != nil {
			s.logger.Warn("simulated machine does not start", "err", err)
			s.settle()
		}
	})
}

// onLater starts the machine later, and shows nothing of that until then: whatever else is ordered
// meanwhile, and once for all that is ordered meanwhile. s.mu is held.
func (s *power) onLater(d time.Duration) {
	if s.ons.late {
		return
	}
	s.ons.late = true
	s.tasks.After(d, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.ons.late = false; s.mains && s.supply.now() == protocol.PowerOff {
			s.powerOn()
		}
	})
}

// forceOff cuts power after the delay, and then does what comes next, with
// s.mu held. s.mu is held.
func (s *power) forceOff(next func()) {
	s.epoch++
	p := s.manner.now()
	delay := p.PowerOffDelay
	switch {
	case s.masked:
		delay = 0
	case p.Power.OffAtOnce:
		s.supply.set(protocol.PowerOff)
	default:
		s.supply.set(protocol.PowerPoweringOff)
	}
	s.later(delay, func() {
		if err := s.machine.PowerOff(); err != nil {
			s.logger.Warn("simulated machine does not stop", "err", err)
		}
		if next == nil {
			s.settle()
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		next()
	})
}

// restart is a reset that the BMC does of its own: Off is not seen. s.mu is held.
func (s *power) restart(why string) {
	s.diary.record(RecordExternal, why)
	s.masked = true
	s.forceOff(s.powerOn)
}

// shutdown asks the system to end. s.mu is held.
func (s *power) shutdown() {
	p := s.manner.now()
	switch {
	case p.IgnoreGraceful:
		return
	case p.HangPoweringOff:
		s.epoch++
		s.supply.set(protocol.PowerPoweringOff)
		return
	case p.Power.OffAtOnce:
		s.supply.set(protocol.PowerOff)
	case s.machine.State() == hardware.Running:
		s.supply.set(protocol.PowerPoweringOff)
	}
	s.later(0, func() {
		if err := s.machine.Shutdown(); err != nil {
			s.logger.Warn("simulated machine does not hear the power button", "err", err)
		}
	})
}

// settle takes the power state from the machine.
func (s *power) settle() {
	state := s.machine.State()
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == hardware.Off {
		s.offAt = time.Now()
		s.supply.set(protocol.PowerOff)
	} else {
		s.supply.set(protocol.PowerOn)
	}
}
