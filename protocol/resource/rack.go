package resource

import (
	"time"

	"rackboot/protocol"
)

// Rack is a place with its segments and servers, served by one agent; another may stand by.
type Rack struct {
	Header
	Spec   RackSpec   `json:"spec"`
	Status RackStatus `json:"status,omitzero"`
}

// RackSpec says how the rack's servers are stopped.
type RackSpec struct {
	Description string `json:"description,omitempty"`
	// SoftTimeout is how long a soft stop may take before ForceOff. Default 180 s.
	SoftTimeout protocol.Duration `json:"softTimeout,omitempty"`
	// SettleWindow is how long a server must read Off before a receipt. Default 5 s.
	SettleWindow protocol.Duration `json:"settleWindow,omitempty"`
	// PollInterval is how often a BMC is read. Default 15 s.
	PollInterval protocol.Duration `json:"pollInterval,omitempty"`
	// Discovery is how servers are discovered before they are Available; nil: they are
	// not.
	Discovery *RackDiscovery `json:"discovery,omitempty"`
	// SafeStop is what becomes of servers that come on without an order; nil is the
	// defaults of its fields.
	SafeStop *SafeStopSpec `json:"safeStop,omitempty"`
	// Inrush bounds how many servers are switched on at once; nil does not.
	Inrush *InrushSpec `json:"inrush,omitempty"`
	// Standby says that the rack is to have an agent that stands by; where it has none, or a
	// silent one, its agent has [CondNoStandby].
	Standby bool `json:"standby,omitempty"`
	// Secrets is how secrets of boots, such as user data, come to servers: default bmc, where a boot waits whose server has no such way.
	Secrets SecretsWay `json:"secrets,omitempty"`
	// RequireEvidence is the weakest evidence by which a boot has ended well: default reported. Attested is of discoveries: other boots
	// of the rack have to be observed then.
	RequireEvidence EvidenceClass `json:"requireEvidence,omitempty"`
}

// MaxServersPerRack bounds the servers of a rack, which one agent has: what it takes was measured
// up to there.
const MaxServersPerRack = 2000

// NetworkFirst is what firmware is answered that asks for a boot without an order, as
// that of a server does whose boot order has the network before the disk.
type NetworkFirst string

// The answers.
const (
	NetworkFirstRefuse    NetworkFirst = "refuse"    // at once, so that firmware goes on to its next boot option
	NetworkFirstStopImage NetworkFirst = "stopImage" // shim and GRUB, which waits
)

// networkFirsts lists the answers.
var networkFirsts = []NetworkFirst{NetworkFirstRefuse, NetworkFirstStopImage}

// DefaultBelieveAfter is BelieveAfter where it is not given: POST of a large server.
const DefaultBelieveAfter = 10 * time.Minute

// SafeStopSpec is what becomes of servers that come on without an order.
type SafeStopSpec struct {
	// NetworkFirst is the answer to their firmware. Default refuse.
	NetworkFirst NetworkFirst `json:"networkFirst,omitempty"`
	// PowerOffAfter is how long the stop image waits before it powers the server off; 0
	// waits for ever.
	PowerOffAfter protocol.Duration `json:"powerOffAfter,omitempty"`
	// BelieveAfter is how long a server must give no sign before it is believed to stand
	// in the EFI shell, where its boot order leads there. Default 10 m.
	BelieveAfter protocol.Duration `json:"believeAfter,omitempty"`
}

// RackStatus is what the hub knows of the rack's agent.
type RackStatus struct {
	Agent string `json:"agent,omitempty"` // the active agent's id
	Term  uint64 `json:"term,omitempty"`  // grows when the agent is replaced
	// AgentKeys are the public keys of all agents that served the rack, so that the
	// present one believes what an earlier one signed.
	AgentKeys [][]byte `json:"agentKeys,omitempty"`
	// Standby is the agent that stands by on a second host. Its term is above Term.
	Standby string `json:"standby,omitempty"`
	// TakenOver are failovers until the holds are known, or given up, that were
	// placed at the agent before. Nothing is switched on meanwhile.
	TakenOver []TakenOver `json:"takenOver,omitempty"`
	// Approvals is what the agent wants approvals for, filled when it is printed. An
	// agent without keys does what the everyday key signs.
	Approvals *ApprovalStance `json:"approvals,omitempty"`
}

// TakenOver is a failover whose first agent's own holds are not known.
type TakenOver struct {
	Agent  string    `json:"agent"` // the one before
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	Reason string    `json:"reason"`
	// Adopted are the holds that were taken over from that agent, until the rack's agent has them too; nil while
	// they are not known.
	Adopted []string `json:"adopted,omitempty"`
}

// Default fills the stop times.
func (r *Rack) Default() {
	r.APIVersion, r.Kind = APIVersion, KindRack
	setDuration(&r.Spec.SoftTimeout, 180*time.Second)
	setDuration(&r.Spec.SettleWindow, 5*time.Second)
	setDuration(&r.Spec.PollInterval, 15*time.Second)
	if s := r.Spec.SafeStop; s != nil {
		if s.NetworkFirst == "" {
			s.NetworkFirst = NetworkFirstRefuse
		}
		setDuration(&s.BelieveAfter, DefaultBelieveAfter)
	}
	r.Spec.Inrush.setDefault()
	r.Spec.Discovery.setDefault()
}

// References names what the discovery boots, if it is a boot environment or a group's image.
func (r *Rack) References() []Reference {
	if d := r.Spec.Discovery; d != nil {
		refs := append(bootEnvReference("spec.discovery.bootEnv", d.BootEnv), groupReference("spec.discovery.imageFrom", d.ImageFrom)...)
		return append(refs, bootImageReference("spec.discovery.image", d.Image)...)
	}
	return nil
}

// Validate reports wrong fields.
func (r *Rack) Validate() protocol.FieldErrors {
	var f fields
	r.check(&f)
	f.between("spec.softTimeout", r.Spec.SoftTimeout, 100*time.Millisecond, time.Hour)
	f.between("spec.settleWindow", r.Spec.SettleWindow, 100*time.Millisecond, 10*time.Minute)
	f.between("spec.pollInterval", r.Spec.PollInterval, 100*time.Millisecond, 10*time.Minute)
	if s := r.Spec.SafeStop; s != nil {
		oneOf(&f, "spec.safeStop.networkFirst", s.NetworkFirst, networkFirsts...)
		f.between("spec.safeStop.believeAfter", s.BelieveAfter, time.Second, 2*time.Hour)
		if s.PowerOffAfter != 0 {
			f.between("spec.safeStop.powerOffAfter", s.PowerOffAfter, time.Second, 24*time.Hour)
			if s.NetworkFirst != NetworkFirstStopImage {
				f.Add("spec.safeStop.powerOffAfter", "is for networkFirst: stopImage only")
			}
		}
	}
	r.Spec.Inrush.check(&f, "spec.inrush")
	r.Spec.Discovery.check(&f, "spec.discovery")
	checkSecrets(&f, "spec.secrets", r.Spec.Secrets)
	checkEvidence(&f, "spec.requireEvidence", r.Spec.RequireEvidence, PurposeDiscovery)
	r.checkProvable(&f)
	return f.FieldErrors
}

// checkProvable reports what keeps each discovery of a rack from being attested, which it requires.
func (r *Rack) checkProvable(f *fields) {
	d := r.Spec.Discovery
	switch {
	case r.Spec.RequireEvidence != EvidenceAttested:
	case d == nil:
		f.Add("spec.requireEvidence", "attested is of discoveries, and the rack has none: give it spec.discovery, or require observed")
	case d.BootEnv != nil:
		f.Add("spec.requireEvidence", "the boot of a boot environment is never attested: give spec.discovery an image that is a unified kernel image, or require observed")
	}
}
