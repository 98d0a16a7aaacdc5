package sim

import "rackboot/protocol"

// PressPowerButton is a person at the machine: on if it is off, else the ACPI
// power button.
func (b *BMC) PressPowerButton() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.mains {
		return
	}
	b.record(RecordExternal, "power button")
	if b.power == protocol.PowerOff {
		b.powerOn()
		return
	}
	b.shutdown()
}

// ExternalOn is another party that powers the machine on past us.
func (b *BMC) ExternalOn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mains && b.power == protocol.PowerOff {
		b.record(RecordExternal, "on")
		b.powerOn()
	}
}

// PullPower takes mains power away, from machine and BMC at once.
func (b *BMC) PullPower() error {
	b.mu.Lock()
	b.record(RecordExternal, "mains lost")
	b.mains, b.beforeLoss = false, b.power
	b.powerEpoch++
	clear(b.sessions)
	b.mu.Unlock()
	if err := b.SetReach(ReachRefused); err != nil {
		return err
	}
	err := b.machine.PowerOff()
	b.settle()
	return err
}

// RestorePower gives mains power back: the BMC answers, and the machine starts
// by the restore policy.
func (b *BMC) RestorePower() error {
	if err := b.SetReach(ReachOK); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.record(RecordExternal, "mains back")
	b.mains = true
	wasOn := b.beforeLoss != protocol.PowerOff
	if b.personality.Restore == RestoreAlwaysOn || b.personality.Restore == RestoreLastState && wasOn {
		b.powerOn()
	}
	return nil
}
