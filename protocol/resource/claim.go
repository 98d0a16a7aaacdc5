package resource

import "rackboot/protocol"

// Claim reserves one server and says what it boots.
type Claim struct {
	Header
	Spec   ClaimSpec   `json:"spec"`
	Status ClaimStatus `json:"status,omitzero"`
}

// ClaimSpec is what somebody wants of a server. Exactly one of ServerRef and
// ServerSelector is given.
type ClaimSpec struct {
	ServerRef      *Ref      `json:"serverRef,omitempty"`
	ServerSelector *Selector `json:"serverSelector,omitempty"`
	Power          Power     `json:"power"`
	// Image is an OCI reference, which the hub resolves once to a digest, or bootimage/NAME
	// for an entry of the catalogue. Exactly one of Image, ImageFrom and BootEnv is given.
	Image     string     `json:"image,omitempty"`
	ImageFrom *ImageFrom `json:"imageFrom,omitempty"`
	// BootEnv names a boot environment.
	BootEnv    *Ref       `json:"bootEnv,omitempty"`
	BootPolicy BootPolicy `json:"bootPolicy,omitempty"`
	// IgnitionSecretRef names the Secret with the server's user data; nil is none.
	IgnitionSecretRef *Ref `json:"ignitionSecretRef,omitempty"`
	// KernelArgs are added to the kernel's command line, after the image's and the
	// server's: see [CheckKernelArgs]. A UKI has its own line, so that an image with
	// nothing else cannot have any.
	KernelArgs string `json:"kernelArgs,omitempty"`
	// Secrets is how secrets of its boots, such as user data, come to the server: default the group's, else the rack's.
	Secrets SecretsWay `json:"secrets,omitempty"`
	// RequireEvidence is the weakest evidence by which a boot has ended well, at most observed: default the group's, else the rack's.
	RequireEvidence EvidenceClass `json:"requireEvidence,omitempty"`
}

// ClaimStatus is what the hub found and did for the claim.
type ClaimStatus struct {
	ObservedGeneration uint64           `json:"observedGeneration,omitempty"`
	Server             string           `json:"server,omitempty"`
	Phase              Phase            `json:"phase,omitempty"`
	Conditions         []ConditionState `json:"conditions,omitempty"`
	// Boot is what it boots as it was resolved; nil before. Awaits is what its server waits for.
	Boot   *ClaimBoot `json:"boot,omitempty"`
	Awaits *Wait      `json:"awaits,omitempty"`
	// EvidenceClass is how strong the evidence is that its boot ended well; empty before that.
	// What an operator's word stands for is reported.
	EvidenceClass EvidenceClass `json:"evidenceClass,omitempty"`
	// Secrets is how user data goes to the server in its last boot from the network; empty
	// where it has none.
	Secrets SecretsWay `json:"secrets,omitempty"`
	// Decision is what somebody has to decide before the server may be network-booted;
	// nil is nothing. It is stored.
	Decision *Decision `json:"decision,omitempty"`
	// Reboots are the reboot annotations that callers have applied. They are stored.
	Reboots []RebootSet `json:"reboots,omitempty"`
}

// Default fills the boot policy.
func (c *Claim) Default() {
	c.APIVersion, c.Kind = APIVersion, KindClaim
	c.Spec.BootPolicy.Default()
}

// References names the server and the user data, where they are named.
func (c *Claim) References() []Reference {
	refs := ignitionReference("spec.ignitionSecretRef", c.Spec.IgnitionSecretRef)
	refs = append(refs, bootEnvReference("spec.bootEnv", c.Spec.BootEnv)...)
	refs = append(refs, groupReference("spec.imageFrom", c.Spec.ImageFrom)...)
	refs = append(refs, bootImageReference("spec.image", c.Spec.Image)...)
	if c.Spec.ServerRef != nil {
		refs = append(refs, Reference{"spec.serverRef.name", KindServer, c.Spec.ServerRef.Name})
	}
	return refs
}

// Validate reports wrong fields.
func (c *Claim) Validate() protocol.FieldErrors {
	var f fields
	c.check(&f)
	switch {
	case (c.Spec.ServerRef == nil) == (c.Spec.ServerSelector == nil):
		f.Add("spec", "give exactly one of serverRef and serverSelector")
	case c.Spec.ServerRef != nil:
		f.name("spec.serverRef.name", c.Spec.ServerRef.Name)
	default:
		c.Spec.ServerSelector.check(&f, "spec.serverSelector", "an empty selector would match every server")
	}
	oneOf(&f, "spec.power", c.Spec.Power, WantOn, WantOff)
	checkBootSource(&f, "spec", c.Spec.Image, c.Spec.ImageFrom, c.Spec.BootEnv, c.Spec.BootPolicy.FirstBoot)
	c.Spec.BootPolicy.check(&f, "spec.bootPolicy")
	c.Spec.IgnitionSecretRef.checkIgnition(&f, "spec.ignitionSecretRef")
	f.kernelArgs("spec.kernelArgs", c.Spec.KernelArgs)
	checkSecrets(&f, "spec.secrets", c.Spec.Secrets)
	checkEvidence(&f, "spec.requireEvidence", c.Spec.RequireEvidence, PurposeClaim)
	return f.FieldErrors
}
