package protocol

import "time"

// Rack is a place with its segments and servers, served by one agent.
type Rack struct {
	Header
	Spec   RackSpec   `json:"spec"`
	Status RackStatus `json:"status,omitzero"`
}

// RackSpec says how the rack's servers are stopped.
type RackSpec struct {
	Description string `json:"description,omitempty"`
	// SoftTimeout is how long a soft stop may take before ForceOff. Default 180 s.
	SoftTimeout Duration `json:"softTimeout,omitempty"`
	// SettleWindow is how long a server must read Off before a receipt. Default 5 s.
	SettleWindow Duration `json:"settleWindow,omitempty"`
	// PollInterval is how often a BMC is read. Default 15 s.
	PollInterval Duration `json:"pollInterval,omitempty"`
}

// RackStatus is what the hub knows of the rack's agent.
type RackStatus struct {
	Agent string `json:"agent,omitempty"` // the active agent's id
	Term  uint64 `json:"term,omitempty"`  // grows when the agent is replaced
	// AgentKeys are the public keys of all agents that served the rack, so that the
	// present one believes what an earlier one signed.
	AgentKeys [][]byte `json:"agentKeys,omitempty"`
}

// Default fills the stop times.
func (r *Rack) Default() {
	r.APIVersion, r.Kind = APIVersion, KindRack
	setDuration(&r.Spec.SoftTimeout, 180*time.Second)
	setDuration(&r.Spec.SettleWindow, 5*time.Second)
	setDuration(&r.Spec.PollInterval, 15*time.Second)
}

// Validate reports wrong fields.
func (r *Rack) Validate() FieldErrors {
	var f FieldErrors
	r.check(&f)
	f.between("spec.softTimeout", r.Spec.SoftTimeout, 100*time.Millisecond, time.Hour)
	f.between("spec.settleWindow", r.Spec.SettleWindow, 100*time.Millisecond, 10*time.Minute)
	f.between("spec.pollInterval", r.Spec.PollInterval, 100*time.Millisecond, 10*time.Minute)
	return f
}
