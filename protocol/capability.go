package protocol

import "slices"

// Capability is something that an agent can do and that not every agent can. A
// hub sends an agent only what it has said it can do, and says
// [CondAgentTooOld] of the rest.
type Capability string

// The capabilities.
const (
	// CapNonce: echoes nonces, so that its messages cannot be played back.
	CapNonce Capability = "nonce"
	// CapFence: follows the highest fence.
	CapFence Capability = "fence"
	// CapIncarnation: takes no grant and no request that was given to another
	// incarnation, and takes a new incarnation when told.
	CapIncarnation Capability = "incarnation"
	// CapEventGap: numbers events without holes and records those that it lost.
	CapEventGap Capability = "event-gap"
	// CapBootHdd, CapBootUefiHTTP: boots claims by this policy.
	CapBootHdd      Capability = "boot.hdd"
	CapBootUefiHTTP Capability = "boot.uefi-http"
	// CapAsk: answers questions about BMCs.
	CapAsk Capability = "ask"
	// CapHoldTerms: heeds a hold's time to live, an operator's confirmation, and
	// firmware work. Agents without it hold until they are told to release, and stop
	// servers also during firmware work.
	CapHoldTerms Capability = "hold.terms"
	// CapAnyPhase: does one-shot requests in any phase.
	CapAnyPhase Capability = "request.any-phase"
	// CapRequestReboot, CapRequestPowerOff: does this one-shot request.
	CapRequestReboot   Capability = "request.reboot"
	CapRequestPowerOff Capability = "request.power-off"
)

// Capabilities are those of this release.
func Capabilities() []Capability {
	return append(BaseCapabilities(), CapNonce, CapFence, CapIncarnation, CapEventGap, CapRequestPowerOff, CapAsk, CapHoldTerms, CapAnyPhase)
}

// BaseCapabilities are those of version 1, whose agents do not announce any. They
// refuse a first boot that they cannot do by themselves.
func BaseCapabilities() []Capability {
	return []Capability{CapBootHdd, CapBootUefiHTTP, CapRequestReboot}
}

// Lacking returns what is needed and not there.
func Lacking(have, need []Capability) (lacking []Capability) {
	for _, c := range need {
		if !slices.Contains(have, c) {
			lacking = append(lacking, c)
		}
	}
	return lacking
}

// Needs are the capabilities without which an agent must not be sent the boot.
// A first boot by Pxe is not among them: every agent says of it that it cannot.
func (b BootIntent) Needs() (need []Capability) {
	if b.Policy.Boot == BootHdd {
		need = append(need, CapBootHdd)
	}
	if b.Policy.FirstBoot == FirstBootUefiHTTP {
		need = append(need, CapBootUefiHTTP)
	}
	return need
}

// Needs are the capabilities without which an agent must not be sent the request.
func (r Request) Needs() []Capability {
	need := []Capability{Capability("request." + string(r.Action))}
	if r.AnyPhase {
		need = append(need, CapAnyPhase)
	}
	return need
}
