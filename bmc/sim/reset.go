package sim

import (
	"net/http"
	"strconv"
	"time"

	"rackboot/bmc/sim/hardware"
	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

// reset does a ComputerSystem.Reset of an allowed type.
func (s *power) reset(kind string) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	off := s.supply.now() == protocol.PowerOff
	if refused := s.untimely(kind, off); refused != nil {
		return refused
	}
	switch kind {
	case tree.ResetOn, tree.ResetForceOn:
		if !off {
			return s.already()
		}
	case tree.ResetPushPowerButton:
	default:
		if off {
			return s.already()
		}
	}
	s.diary.record(RecordReset, kind)
	s.resetAt = time.Now()
	s.do(kind, off)
	return nil
}

// untimely refuses resets that come too soon, or never work. s.mu is held.
func (s *power) untimely(kind string, off bool) *refusal {
	p := s.manner.now()
	gap := time.Since(s.resetAt)
	switch {
	case !s.mains:
		return &refusal{status: http.StatusServiceUnavailable, id: "Base.1.13.ServiceTemporarilyUnavailable", text: "no mains power"}
	case kind == p.Power.RefuseReset:
		return propertyError("ActionParameterNotSupported", "ResetType")
	case !s.resetAt.IsZero() && gap < p.Power.Gap:
		left := strconv.Itoa(int((p.Power.Gap - gap + time.Second - 1) / time.Second))
		return &refusal{status: http.StatusServiceUnavailable, id: messageNotReady, text: "the last operation is not complete", retryAfter: left}
	case !s.resetAt.IsZero() && gap < p.Power.RefuseAfter:
		return &refusal{status: http.StatusBadRequest, id: messageAlreadyHPE, text: "not in this state"}
	case kind == tree.ResetOn && off && !s.offAt.IsZero() && time.Since(s.offAt) < p.RefuseOnFor:
		return &refusal{status: http.StatusConflict, id: "Base.1.18.ActionParameterValueConflict", text: "the system has just been powered off"}
	default:
		return nil
	}
}

// already answers a reset to the state that the system is in.
func (s *power) already() *refusal {
	p := s.manner.now()
	if p.AlreadyStatus == 0 {
		return nil
	}
	return &refusal{status: p.AlreadyStatus, id: p.AlreadyMessage, text: "the server is already in the requested state"}
}

// do does an accepted reset. s.mu is held.
func (s *power) do(kind string, off bool) {
	s.masked = false
	switch kind {
	case tree.ResetOn, tree.ResetForceOn:
		if s.ons.drop > 0 {
			s.ons.drop--
			return
		}
		if late := s.manner.now().Power.OnLate; late > 0 {
			s.onLater(late)
			return
		}
		s.powerOn()
	case tree.ResetForceOff:
		if s.manner.now().Power.IgnoreForce {
			return
		}
		s.forceOff(nil)
	case tree.ResetGracefulShutdown:
		s.shutdown()
	case tree.ResetPowerCycle:
		s.forceOff(s.powerOn)
	case tree.ResetForceRestart:
		if s.manner.now().Power.RestartHangs {
			s.hang()
			return
		}
		s.forceOff(s.powerOn)
	case tree.ResetGracefulRestart:
		if s.manner.now().Power.RestartHard || s.machine.State() == hardware.Running {
			s.forceOff(s.powerOn)
		}
	case tree.ResetPushPowerButton:
		if off {
			s.powerOn()
		} else {
			s.shutdown()
		}
	}
}

// hang leaves the host powered and dead: the machine is cut while the BMC still
// says On. s.mu is held.
func (s *power) hang() {
	s.masked = true
	s.epoch++
	s.later(0, func() { _ = s.machine.PowerOff() })
}
