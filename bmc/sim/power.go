package sim

import (
	"net/http"
	"time"

	"rackboot/protocol"
)

// reset does a ComputerSystem.Reset of an allowed type.
func (b *BMC) reset(kind string) *refusal {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.mains {
		return &refusal{status: http.StatusServiceUnavailable, id: "Base.1.13.ServiceTemporarilyUnavailable", text: "no mains power"}
	}
	off := b.power == protocol.PowerOff
	switch kind {
	case resetOn:
		if !off {
			return b.already()
		}
		if time.Since(b.offAt) < b.personality.RefuseOnFor {
			return &refusal{status: http.StatusConflict, id: "Base.1.18.ActionParameterValueConflict", text: "the system has just been powered off"}
		}
		b.record(RecordReset, kind)
		if b.dropOns > 0 {
			b.dropOns--
			return nil
		}
		b.powerOn()
	case resetForceOff:
		if off {
			return b.already()
		}
		b.record(RecordReset, kind)
		b.forceOff(nil)
	case resetGracefulShutdown:
		if off {
			return b.already()
		}
		b.record(RecordReset, kind)
		b.shutdown()
	case resetForceRestart:
		if off {
			return b.already()
		}
		b.record(RecordReset, kind)
		b.forceOff(b.powerOn)
	}
	return nil
}

// already answers a reset to the state that the system is in.
func (b *BMC) already() *refusal {
	if b.personality.AlreadyStatus == 0 {
		return nil
	}
	return &refusal{status: b.personality.AlreadyStatus, id: b.personality.AlreadyMessage, text: "the server is already in the requested state"}
}

// powerOn starts the machine after the delay. b.mu is held.
func (b *BMC) powerOn() {
	b.powerEpoch++
	b.setPower(protocol.PowerPoweringOn)
	b.later(b.personality.PowerOnDelay, func() {
		if err := b.machine.PowerOn(b); err != nil {
			b.logger.Warn("simulated machine does not start", "err", err)
			b.settle()
		}
	})
}

// forceOff cuts power after the delay, and then does what comes next, with
// b.mu held. b.mu is held.
func (b *BMC) forceOff(next func()) {
	b.powerEpoch++
	b.setPower(protocol.PowerPoweringOff)
	b.later(b.personality.PowerOffDelay, func() {
		if err := b.machine.PowerOff(); err != nil {
			b.logger.Warn("simulated machine does not stop", "err", err)
		}
		b.settle()
		if next != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			next()
		}
	})
}

// shutdown asks the system to end. b.mu is held.
func (b *BMC) shutdown() {
	switch {
	case b.personality.IgnoreGraceful:
	case b.personality.HangPoweringOff:
		b.powerEpoch++
		b.setPower(protocol.PowerPoweringOff)
	default:
		if b.machine.State() == MachineRunning {
			b.setPower(protocol.PowerPoweringOff)
		}
		b.later(0, func() {
			if err := b.machine.Shutdown(); err != nil {
				b.logger.Warn("simulated machine does not hear the power button", "err", err)
			}
		})
	}
}

// settle takes the power state from the machine.
func (b *BMC) settle() {
	state := b.machine.State()
	b.mu.Lock()
	defer b.mu.Unlock()
	if state == MachineOff {
		b.offAt = time.Now()
		b.setPower(protocol.PowerOff)
	} else {
		b.setPower(protocol.PowerOn)
	}
}
