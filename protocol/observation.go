package protocol

import "time"

// PowerState is what a BMC says of a system's power, in the words of Redfish
// Resource.PowerState, plus two for what a BMC did not say. Only Off, exactly,
// counts as stopped: PoweringOff, Unknown and Unreachable never do (P3).
type PowerState string

// The power states.
const (
	PowerOn          PowerState = "On"
	PowerOff         PowerState = "Off"
	PowerPoweringOn  PowerState = "PoweringOn"
	PowerPoweringOff PowerState = "PoweringOff"
	PowerPaused      PowerState = "Paused"
	PowerUnknown     PowerState = "Unknown"     // the BMC answered, without a usable value
	PowerUnreachable PowerState = "Unreachable" // the BMC did not answer
)

// PowerStates lists all power states.
func PowerStates() []PowerState {
	return []PowerState{PowerOn, PowerOff, PowerPoweringOn, PowerPoweringOff, PowerPaused, PowerUnknown, PowerUnreachable}
}

// Source says which kind of read produced an observation. Cached values are
// never observations.
type Source string

// The sources.
const (
	SourcePoll  Source = "poll"  // the regular poll
	SourceEvent Source = "event" // a read that an event of the BMC caused
)

// BootTarget is a Redfish BootSourceOverrideTarget.
type BootTarget string

// The targets that Rackboot writes.
const (
	TargetNone     BootTarget = "None"
	TargetPxe      BootTarget = "Pxe"
	TargetHdd      BootTarget = "Hdd"
	TargetUefiHTTP BootTarget = "UefiHttp"
	TargetCd       BootTarget = "Cd" // also of virtual media
	// TargetSetup ends POST in the firmware's own menus: what waits for POST is taken, and nothing boots.
	TargetSetup BootTarget = "BiosSetup"
)

// OverrideEnabled is a Redfish BootSourceOverrideEnabled.
type OverrideEnabled string

// The values of OverrideEnabled.
const (
	OverrideDisabled   OverrideEnabled = "Disabled"
	OverrideOnce       OverrideEnabled = "Once"
	OverrideContinuous OverrideEnabled = "Continuous"
)

// Override is the boot override that a BMC holds.
type Override struct {
	Target  BootTarget      `json:"target,omitempty"`
	Enabled OverrideEnabled `json:"enabled,omitempty"`
	Mode    string          `json:"mode,omitempty"` // BootSourceOverrideMode; empty if the BMC has none
}

// Armed says whether the override would change the next boot.
func (o Override) Armed() bool {
	return o.Target != "" && o.Target != TargetNone && (o.Enabled == OverrideOnce || o.Enabled == OverrideContinuous)
}

// Observation is one dated raw read of one system from its BMC.
type Observation struct {
	Server string    `json:"server"`
	ReadAt time.Time `json:"readAt"` // agent clock, when the BMC's answer was complete
	// StartedAt is when the agent sent the read; a proof counts reads by it, because
	// an answer may be older than its arrival.
	StartedAt time.Time  `json:"startedAt"`
	Source    Source     `json:"source"`
	Power     PowerState `json:"power"`
	// Override is what the BMC holds; the zero value if it was not read.
	Override Override `json:"override"`
	// BootProgress is Redfish BootProgress.LastState: a hint, never a proof.
	BootProgress string `json:"bootProgress,omitempty"`
	// OEMProgress is BootProgress.OemLastState, and SystemState is Status.State; hints too.
	OEMProgress string `json:"oemProgress,omitempty"`
	SystemState string `json:"systemState,omitempty"`
	// LastResetTime is compared for change only; vendors report odd values.
	LastResetTime string `json:"lastResetTime,omitempty"`
	// ManagerTime is DateTime of the BMC's manager, with its zone: what the BMC's clock showed. It is
	// read only where LastResetTime is another than in the read before, and goes to no hub.
	ManagerTime string `json:"-"`
	// PowerLog names the newest entry of the BMC's log that tells of a power-on or a
	// reset, where it has no LastResetTime; compared for change only.
	PowerLog string `json:"powerLog,omitempty"`
	// Code and Error say why Power is Unknown or Unreachable.
	Code  Code   `json:"code,omitempty"`
	Error string `json:"error,omitempty"`
	// Fault is what the BMC did wrong in this read; zero if nothing. A read may have one and
	// a usable Power: a BMC without a session left is read all the same.
	Fault BMCFault `json:"fault,omitzero"`
	// Order is how the Task of the last order ended, if the BMC has refused it so after it
	// had taken it; zero otherwise.
	Order BMCFault `json:"order,omitzero"`
}
