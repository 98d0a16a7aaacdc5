package sim

import (
	"rackboot/bmc/sim/hardware"
	"rackboot/protocol"
)

// pressed is the power button: on if the machine is off, else the ACPI power button.
func (s *power) pressed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.mains {
		return
	}
	s.diary.record(RecordExternal, "power button")
	if s.supply.now() == protocol.PowerOff {
		s.powerOn()
		return
	}
	s.shutdown()
}

// switchedOn is another party that powers the machine on past us.
func (s *power) switchedOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mains && s.supply.now() == protocol.PowerOff {
		s.diary.record(RecordExternal, "on")
		s.powerOn()
	}
}

// unplugged is the loss of mains power, as the BMC notices it.
func (s *power) unplugged() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wasOn, s.mains, s.masked = s.supply.now() != protocol.PowerOff, false, false
	s.epoch++
}

// cut is the loss of mains power, as the machine notices it.
func (s *power) cut() error {
	err := s.machine.PowerOff()
	s.settle()
	return err
}

// plugged is mains power that is back; the machine starts by the policy.
func (s *power) plugged(policy RestorePolicy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mains = true
	if policy == RestoreAlwaysOn || policy == RestoreLastState && s.wasOn {
		s.powerOn()
	}
}

// updated restarts a machine that is on, for new firmware.
func (s *power) updated() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.machine.State() != hardware.Off {
		s.restart("firmware update")
	}
}

// adjusted begins the count of dropped power-ons anew.
func (s *power) adjusted(drop int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ons.drop = drop
}
