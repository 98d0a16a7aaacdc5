package protocol

// Purpose is why a boot configuration exists.
type Purpose string

// PurposeClaim is a boot for the claim of a server.
const PurposeClaim Purpose = "claim"

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
	Server     string     `json:"server"`
	Purpose    Purpose    `json:"purpose"`
	Claim      string     `json:"claim"`
	ClaimUID   string     `json:"claimUID"`
	Image      Image      `json:"image"`
	BootPolicy BootPolicy `json:"bootPolicy"`
	// Grant is the signed one-time permission for the first boot.
	Grant []byte `json:"grant"`
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
	SignedProvisioned []byte           `json:"signedProvisioned,omitempty"`
	Conditions        []ConditionState `json:"conditions,omitempty"`
}

// Default sets kind and version.
func (b *BootConfiguration) Default() { b.APIVersion, b.Kind = APIVersion, KindBootConfiguration }

// Validate reports wrong fields.
func (b *BootConfiguration) Validate() FieldErrors {
	var f FieldErrors
	b.check(&f)
	return f
}
