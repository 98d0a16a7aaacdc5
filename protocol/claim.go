package protocol

import "strings"

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
	// Image is an OCI reference; the hub resolves it once to a digest.
	Image      string     `json:"image"`
	BootPolicy BootPolicy `json:"bootPolicy,omitempty"`
}

// Selector selects by labels, all of which must match.
type Selector struct {
	MatchLabels map[string]string `json:"matchLabels"`
}

// ClaimStatus is what the hub found and did for the claim.
type ClaimStatus struct {
	ObservedGeneration uint64           `json:"observedGeneration,omitempty"`
	Server             string           `json:"server,omitempty"`
	Phase              Phase            `json:"phase,omitempty"`
	Conditions         []ConditionState `json:"conditions,omitempty"`
}

// Default fills the boot policy.
func (c *Claim) Default() {
	c.APIVersion, c.Kind = APIVersion, KindClaim
	c.Spec.BootPolicy.Default()
}

// References names the server, where one is named.
func (c *Claim) References() []Reference {
	if c.Spec.ServerRef == nil {
		return nil
	}
	return []Reference{{"spec.serverRef.name", KindServer, c.Spec.ServerRef.Name}}
}

// Validate reports wrong fields.
func (c *Claim) Validate() FieldErrors {
	var f FieldErrors
	c.check(&f)
	switch {
	case (c.Spec.ServerRef == nil) == (c.Spec.ServerSelector == nil):
		f.add("spec", "give exactly one of serverRef and serverSelector")
	case c.Spec.ServerRef != nil:
		f.name("spec.serverRef.name", c.Spec.ServerRef.Name)
	case len(c.Spec.ServerSelector.MatchLabels) == 0:
		f.add("spec.serverSelector.matchLabels", "give at least one label; an empty selector would match every server")
	}
	oneOf(&f, "spec.power", c.Spec.Power, WantOn, WantOff)
	if c.Spec.Image == "" || strings.ContainsAny(c.Spec.Image, " \t\n") {
		f.add("spec.image", "%q is not an OCI reference such as registry.example/os:1", c.Spec.Image)
	}
	c.Spec.BootPolicy.check(&f, "spec.bootPolicy")
	return f
}
