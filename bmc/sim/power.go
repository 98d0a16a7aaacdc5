package sim

import (
	"time"

	"rackboot/protocol"
)

// later does something after a delay unless the BMC is closed first, or a
// newer power command came. bmc.mu is held by the caller, not by what is done.
func (h *Host) later(d time.Duration, do func()) {
	b := h.bmc
	epoch := h.epoch
	b.after(d, func() {
		b.mu.Lock()
		stale := h.epoch != epoch
		b.mu.Unlock()
		if !stale {
			do()
		}
	})
}

// powerOn starts the machine after the delay. bmc.mu is held.
func (h *Host) powerOn() {
	p := &h.bmc.personality
	h.epoch++
	if !h.masked {
		h.setPower(protocol.PowerPoweringOn)
	}
	if p.Power.OnFallsBack > 0 && !h.masked {
		p.Power.OnFallsBack--
		h.later(p.PowerOnDelay, h.settle)
		return
	}
	h.beginBoot()
	h.begun = true
	h.later(p.PowerOnDelay, func() {
		if err := h.machine.PowerOn(h); err != nil {
			h.bmc.logger.Warn("simulated machine does not start", "err", err)
			h.settle()
		}
	})
}

// forceOff cuts power after the delay, and then does what comes next, with
// bmc.mu held. bmc.mu is held.
func (h *Host) forceOff(next func()) {
	h.epoch++
	p := h.bmc.personality
	delay := p.PowerOffDelay
	switch {
	case h.masked:
		delay = 0
	case p.Power.OffAtOnce:
		h.setPower(protocol.PowerOff)
	default:
		h.setPower(protocol.PowerPoweringOff)
	}
	h.later(delay, func() {
		if err := h.machine.PowerOff(); err != nil {
			h.bmc.logger.Warn("simulated machine does not stop", "err", err)
		}
		if next == nil {
			h.settle()
			return
		}
		h.bmc.mu.Lock()
		defer h.bmc.mu.Unlock()
		next()
	})
}

// restart is a reset that the BMC does of its own: Off is not seen. bmc.mu is held.
func (h *Host) restart(why string) {
	h.bmc.record(RecordExternal, why)
	h.masked = true
	h.forceOff(h.powerOn)
}

// shutdown asks the system to end. bmc.mu is held.
func (h *Host) shutdown() {
	p := h.bmc.personality
	switch {
	case p.IgnoreGraceful:
		return
	case p.HangPoweringOff:
		h.epoch++
		h.setPower(protocol.PowerPoweringOff)
		return
	case p.Power.OffAtOnce:
		h.setPower(protocol.PowerOff)
	case h.machine.State() == MachineRunning:
		h.setPower(protocol.PowerPoweringOff)
	}
	h.later(0, func() {
		if err := h.machine.Shutdown(); err != nil {
			h.bmc.logger.Warn("simulated machine does not hear the power button", "err", err)
		}
	})
}

// settle takes the power state from the machine.
func (h *Host) settle() {
	state := h.machine.State()
	h.bmc.mu.Lock()
	defer h.bmc.mu.Unlock()
	if state == MachineOff {
		h.offAt, h.hung = time.Now(), false
		h.setPower(protocol.PowerOff)
	} else {
		h.setPower(protocol.PowerOn)
	}
}

// maxPast bounds the changes of power that are remembered.
const maxPast = 32

// powerChange is a power state and when it began.
type powerChange struct {
	at    time.Time
	power protocol.PowerState
}

// shown is the power state as a read gives it. bmc.mu is held.
func (h *Host) shown() any {
	rules := h.bmc.personality.Power
	power := h.past[0].power
	for _, c := range h.past[1:] {
		if time.Since(c.at) >= rules.StaleFor {
			power = c.power
		}
	}
	if word, ok := rules.Shown[string(power)]; ok {
		return word
	}
	return power
}
