package resource

import "rackboot/protocol"

// BootConfigState is the state of a BootConfiguration.
type BootConfigState string

// The states (seed 000, ServerBootConfigurationStatus).
const (
	BootConfigPending BootConfigState = "Pending"
	BootConfigReady   BootConfigState = "Ready"
	BootConfigError   BootConfigState = "Error"
)

// BootConfiguration is what one server boots for one purpose. The hub makes it
// after the image was validated and never changes its spec: another image on a
// live claim is a condition, not a silent change (in metal-operator an image that is changed in place is never booted).
type BootConfiguration struct {
	Header
	Spec   BootConfigurationSpec   `json:"spec"`
	Status BootConfigurationStatus `json:"status,omitzero"`
}

// BootConfigurationSpec is fixed at creation.
type BootConfigurationSpec struct {
	Server string `json:"server"`
	Owner  Owner  `json:"owner"`
	BootSpec
	// KernelArgs are the server's and the owner's, which are at the end of the image's
	// command line.
	KernelArgs string `json:"kernelArgs,omitempty"`
	// Group and Revision say which revision of a ServerGroup it was made from; empty is of
	// none.
	Group    string `json:"group,omitempty"`
	Revision int    `json:"revision,omitempty"`
	// BootEnv names the boot environment; empty boots an image. Image is then
	// [EnvImage] of it.
	BootEnv string `json:"bootEnv,omitempty"`
	// Ignition is the server's user data; nil is none.
	Ignition *IgnitionRef `json:"ignition,omitempty"`
	// Former is what the server's agent returns to by itself; nil is nothing.
	Former *FormerBoot `json:"former,omitempty"`
}

// Data is its user data; nil without any.
func (f *FormerBoot) Data() *IgnitionRef {
	if f == nil {
		return nil
	}
	return f.Ignition
}

// FormerBoot is the last configuration of the same owner that was booted well, of a group
// with rollout.fallbackAfter. It is in force again where an agent says so in its report.
type FormerBoot struct {
	After    int `json:"after"`    // failed boots of the new one
	Revision int `json:"revision"` // of the group
	GrantedBoot
	Ignition *IgnitionRef `json:"ignition,omitempty"`
}

// BootConfigurationStatus is filled from reports when it is printed.
type BootConfigurationStatus struct {
	State       BootConfigState `json:"state,omitempty"`
	HTTPBootURI string          `json:"httpBootURI,omitempty"`
	// GrantFor is the incarnation of the agent that the grant was first given to,
	// stored before it was; no other may use it.
	GrantFor    string       `json:"grantFor,omitempty"`
	Provisioned *Provisioned `json:"provisioned,omitempty"`
	// SignedProvisioned is the agent's COSE_Sign1; stored once and echoed to agents.
	SignedProvisioned []byte `json:"signedProvisioned,omitempty"`
	// EvidenceClass is how strong the evidence is that its boot ended well; empty before that.
	// What an operator's word stands for is reported.
	EvidenceClass EvidenceClass `json:"evidenceClass,omitempty"`
	// Secrets is how user data goes to the server in its last boot from the network; empty
	// where it has none.
	Secrets SecretsWay `json:"secrets,omitempty"`
	// Adopted is an operator's word that the image is installed. It is stored.
	Adopted *Adopted `json:"adopted,omitempty"`
	// Seen is what was seen of a group's claim; it is stored.
	Seen       *BootSeen        `json:"seen,omitempty"`
	Conditions []ConditionState `json:"conditions,omitempty"`
}

// Granted is the boot as agents get it.
func (b *BootConfiguration) Granted() GrantedBoot {
	return GrantedBoot{Generation: b.Metadata.Generation, BootSpec: b.Spec.BootSpec, GrantFor: b.Status.GrantFor}
}

// Installed says whether the configuration's system is on the disk: by an agent's record
// or by an operator's word.
func (b *BootConfiguration) Installed() bool {
	return len(b.Status.SignedProvisioned) > 0 || b.Status.Adopted != nil
}

// Default sets kind and version.
func (b *BootConfiguration) Default() { b.APIVersion, b.Kind = APIVersion, KindBootConfiguration }

// Validate reports wrong fields.
func (b *BootConfiguration) Validate() protocol.FieldErrors {
	var f fields
	b.check(&f)
	return f.FieldErrors
}
