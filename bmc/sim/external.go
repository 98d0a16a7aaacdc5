package sim

import "rackboot/protocol"

// PressPowerButton is a person at the machine: on if it is off, else the ACPI
// power button.
func (h *Host) PressPowerButton() {
	h.bmc.mu.Lock()
	defer h.bmc.mu.Unlock()
	if !h.bmc.mains {
		return
	}
	h.bmc.record(RecordExternal, "power button")
	if h.power == protocol.PowerOff {
		h.powerOn()
		return
	}
	h.shutdown()
}

// ExternalOn is another party that powers the machine on past us.
func (h *Host) ExternalOn() {
	h.bmc.mu.Lock()
	defer h.bmc.mu.Unlock()
	if h.bmc.mains && h.power == protocol.PowerOff {
		h.bmc.record(RecordExternal, "on")
		h.powerOn()
	}
}

// PressPowerButton presses the button of the first host.
func (b *BMC) PressPowerButton() { b.hosts[0].PressPowerButton() }

// ExternalOn powers the first host on past us.
func (b *BMC) ExternalOn() { b.hosts[0].ExternalOn() }

// PullPower takes mains power away, from machines and BMC at once.
func (b *BMC) PullPower() error {
	b.mu.Lock()
	b.record(RecordExternal, "mains lost")
	b.mains = false
	for _, h := range b.hosts {
		h.beforeLoss, h.masked = h.power, false
		h.epoch++
	}
	b.forgetRuntime()
	b.mu.Unlock()
	if err := b.SetReach(ReachRefused); err != nil {
		return err
	}
	var failed error
	for _, h := range b.hosts {
		if err := h.machine.PowerOff(); err != nil {
			failed = err
		}
		h.settle()
	}
	return failed
}

// RestorePower gives mains power back: the BMC answers, and the machines start
// by their restore policy.
func (b *BMC) RestorePower() error {
	if err := b.SetReach(ReachOK); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.record(RecordExternal, "mains back")
	b.mains = true
	for _, h := range b.hosts {
		wasOn := h.beforeLoss != protocol.PowerOff
		if policy := h.restorePolicy(); policy == RestoreAlwaysOn || policy == RestoreLastState && wasOn {
			h.powerOn()
		}
	}
	return nil
}

// Restart is a restart of the BMC alone: sessions, subscriptions and tasks are
// gone, the machines run on.
func (b *BMC) Restart() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.record(RecordExternal, "BMC restart")
	b.restarted = true
	b.forgetRuntime()
}

// restorePolicy is what the host does when mains power returns. bmc.mu is held.
func (h *Host) restorePolicy() RestorePolicy {
	p := h.bmc.personality
	if h.restore != "" {
		return h.restore
	}
	if name := p.Power.RestoreAttribute; name != "" {
		switch h.attribute(name) {
		case "Last State", "Last":
			return RestoreLastState
		case "Power On", "On":
			return RestoreAlwaysOn
		default:
			return RestoreAlwaysOff
		}
	}
	if p.Restore == "" {
		return RestoreAlwaysOff
	}
	return p.Restore
}
