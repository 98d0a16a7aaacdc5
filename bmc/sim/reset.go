package sim

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"rackboot/protocol"
)

// The reset types that the simulator knows (Redfish ResetType).
const (
	resetOn               = "On"
	resetForceOn          = "ForceOn"
	resetForceOff         = "ForceOff"
	resetGracefulShutdown = "GracefulShutdown"
	resetGracefulRestart  = "GracefulRestart"
	resetForceRestart     = "ForceRestart"
	resetPowerCycle       = "PowerCycle"
	resetPushPowerButton  = "PushPowerButton"
	resetNmi              = "Nmi"
)

const (
	messageAlreadyDell = "IDRAC.2.8.PSU501"
	messageAlreadyHPE  = "iLO.2.37.InvalidOperationForSystemState"
	messageNotReady    = "IDRAC.2.8.SYS518"
)

func knownResets() []string {
	return []string{
		resetOn, resetForceOn, resetForceOff, resetGracefulShutdown, resetGracefulRestart,
		resetForceRestart, resetPowerCycle, resetPushPowerButton, resetNmi,
	}
}

func (h *Host) postReset(r *request) *answer {
	allowed := h.resets
	if len(allowed) == 0 {
		allowed = knownResets()
	}
	kind, refused := parseReset(r.body, allowed)
	if refused == nil && h.bmc.personality.Power.TaskFails {
		return h.taskOf(kind)
	}
	if refused == nil {
		refused = h.reset(kind)
	}
	if refused != nil {
		return refuse(refused)
	}
	return reply(http.StatusNoContent, nil)
}

// taskOf takes a reset as a Task that fails. bmc.mu is held.
func (h *Host) taskOf(kind string) *answer {
	h.bmc.record(RecordReset, kind)
	j := h.bmc.addJob(h, "reset "+kind)
	j.state = "Running"
	h.bmc.after(h.bmc.personality.Power.TaskTakes, func() {
		h.bmc.mu.Lock()
		defer h.bmc.mu.Unlock()
		j.state, j.said = "Exception", object{"MessageId": "Base.1.13.InternalError", "Message": "The power sequencer did not answer.", "Severity": "Critical"}
	})
	a := reply(http.StatusAccepted, nil)
	a.header.Set("Location", j.uri)
	return a
}

// parseReset checks the body of a reset.
func parseReset(body []byte, allowed []string) (string, *refusal) {
	var f map[string]json.RawMessage
	if json.Unmarshal(body, &f) != nil || f == nil {
		return "", &refusal{status: http.StatusBadRequest, id: "Base.1.13.MalformedJSON", text: "the body is not a JSON object"}
	}
	for name := range f {
		if name != "ResetType" {
			return "", &refusal{status: http.StatusBadRequest, id: "Base.1.13.ActionParameterUnknown", text: "parameter " + name}
		}
	}
	var kind string
	if json.Unmarshal(f["ResetType"], &kind) != nil || !slices.Contains(allowed, kind) {
		return "", &refusal{status: http.StatusBadRequest, id: "Base.1.13.ActionParameterValueNotInList", text: "parameter ResetType"}
	}
	return kind, nil
}

// reset does a ComputerSystem.Reset of an allowed type. bmc.mu is held.
func (h *Host) reset(kind string) *refusal {
	off := h.power == protocol.PowerOff
	if refused := h.untimely(kind, off); refused != nil {
		return refused
	}
	switch kind {
	case resetOn, resetForceOn:
		if !off {
			return h.already()
		}
	case resetPushPowerButton:
	default:
		if off {
			return h.already()
		}
	}
	h.bmc.record(RecordReset, kind)
	h.resetAt = time.Now()
	h.do(kind, off)
	return nil
}

// untimely refuses resets that come too soon, or never work.
func (h *Host) untimely(kind string, off bool) *refusal {
	p := h.bmc.personality
	gap := time.Since(h.resetAt)
	switch {
	case !h.bmc.mains:
		return &refusal{status: http.StatusServiceUnavailable, id: "Base.1.13.ServiceTemporarilyUnavailable", text: "no mains power"}
	case kind == p.Power.RefuseReset:
		return propertyError("ActionParameterNotSupported", "ResetType")
	case !h.resetAt.IsZero() && gap < p.Power.Gap:
		left := strconv.Itoa(int((p.Power.Gap - gap + time.Second - 1) / time.Second))
		return &refusal{status: http.StatusServiceUnavailable, id: messageNotReady, text: "the last operation is not complete", retryAfter: left}
	case !h.resetAt.IsZero() && gap < p.Power.RefuseAfter:
		return &refusal{status: http.StatusBadRequest, id: messageAlreadyHPE, text: "not in this state"}
	case kind == resetOn && off && !h.offAt.IsZero() && time.Since(h.offAt) < p.RefuseOnFor:
		return &refusal{status: http.StatusConflict, id: "Base.1.18.ActionParameterValueConflict", text: "the system has just been powered off"}
	default:
		return nil
	}
}

// already answers a reset to the state that the system is in.
func (h *Host) already() *refusal {
	p := h.bmc.personality
	if p.AlreadyStatus == 0 {
		return nil
	}
	return &refusal{status: p.AlreadyStatus, id: p.AlreadyMessage, text: "the server is already in the requested state"}
}

// do does an accepted reset.
func (h *Host) do(kind string, off bool) {
	h.masked = false
	switch kind {
	case resetOn, resetForceOn:
		if h.dropOns > 0 {
			h.dropOns--
			return
		}
		h.powerOn()
	case resetForceOff:
		if h.bmc.personality.Power.IgnoreForce {
			return
		}
		h.forceOff(nil)
	case resetGracefulShutdown:
		h.shutdown()
	case resetPowerCycle:
		h.forceOff(h.powerOn)
	case resetForceRestart:
		if h.bmc.personality.Power.RestartHangs {
			h.hang()
			return
		}
		h.forceOff(h.powerOn)
	case resetGracefulRestart:
		if h.bmc.personality.Power.RestartHard || h.machine.State() == MachineRunning {
			h.forceOff(h.powerOn)
		}
	case resetPushPowerButton:
		if off {
			h.powerOn()
		} else {
			h.shutdown()
		}
	}
}

// hang leaves the host powered and dead: the machine is cut while the BMC still
// says On.
func (h *Host) hang() {
	h.hung, h.masked = true, true
	h.epoch++
	h.later(0, func() { _ = h.machine.PowerOff() })
}
