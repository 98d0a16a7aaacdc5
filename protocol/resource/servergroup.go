package resource

import "rackboot/protocol"

// ServerGroup is servers that boot one managed image: a claim that says imageFrom.group
// boots what is current when it is first booted (seed 001, MachineSet). What the hub
// manages is in the status, so that nobody who applies the group fights with it.
type ServerGroup struct {
	Header
	Spec   ServerGroupSpec   `json:"spec"`
	Status ServerGroupStatus `json:"status,omitzero"`
}

// ServerGroupSpec is what people say of the group.
type ServerGroupSpec struct {
	// Selector selects servers by their labels. It says which servers a roll-out is for;
	// a claim names its group itself. A server that two groups select is in neither, which
	// a condition of both says.
	Selector Selector `json:"selector"`
	// Catalogue is the line of boot images that the group follows when it is managed.
	Catalogue string `json:"catalogue"`
	// Image is an image of the owner's own, an OCI reference with a digest, in place of
	// the catalogue's. It is never changed; rackctl group adopt gives it up.
	Image string `json:"image,omitempty"`
	// ManagedBy names who else manages the group's image, such as argocd/site-7. Such a
	// group is skipped.
	ManagedBy string `json:"managedBy,omitempty"`
	// Architectures are what the group may have; empty takes them from its servers. A
	// server without a known architecture waits; another one than these is an error.
	Architectures []string   `json:"architectures,omitempty"`
	BootPolicy    BootPolicy `json:"bootPolicy,omitempty"`
	// Stub is the group's user data, which its claims have that name none.
	Stub    *StubSpec   `json:"stub,omitempty"`
	Rollout RolloutSpec `json:"rollout,omitzero"`
	// HistoryLimit is how many revisions are kept, 10 by default. The current one, the
	// last that was verified and any that is rolled out are kept beyond it.
	HistoryLimit int `json:"historyLimit,omitempty"`
	// Params are values for boot environments of the servers that the group selects, by the
	// names of their params: after those of their profiles and before those that are for
	// all. A server that two groups select has those of neither.
	Params map[string]any `json:"params,omitempty"`
	// Secrets is how secrets of boots, such as user data, come to servers that the group selects: default the rack's.
	Secrets SecretsWay `json:"secrets,omitempty"`
	// RequireEvidence is the weakest evidence by which a boot has ended well of those, at most observed: default the rack's.
	RequireEvidence EvidenceClass `json:"requireEvidence,omitempty"`
}

// StubSpec is the Ignition configuration of first boots and what may be done with it.
type StubSpec struct {
	// SecretRef names a Secret of type ignition.
	SecretRef Ref `json:"secretRef"`
	// Manage consents to translate it from specification 2 to 3, into the Secret
	// NAME-spec-3-managed. The one that is named stays as it is.
	Manage bool `json:"manage,omitempty"`
	// AcceptLoss consents to lose what specification 3 has no words for.
	AcceptLoss bool `json:"acceptLoss,omitempty"`
	// ReplaceCA is a PEM bundle that takes the place of the certificate authorities in the
	// managed stub; empty leaves them.
	ReplaceCA string `json:"replaceCA,omitempty"`
	// ServerCA is the PEM bundle that the configuration's server has now; with it a stub
	// whose authorities do not include it is StubCAMismatch.
	ServerCA string `json:"serverCA,omitempty"`
}

// maxGroupName leaves room for the number of a revision.
const maxGroupName = 52

// ManagedStubSuffix ends the name of a Secret with a translated stub (seed 001).
const ManagedStubSuffix = "-spec-3-managed"

// ServerGroupStatus is what the hub made of the group. All of it but enrolment, stubLimit, skew,
// counts and conditions is stored.
type ServerGroupStatus struct {
	ObservedGeneration uint64 `json:"observedGeneration,omitempty"`
	// Enrolment says whether the group is managed, and why or why not.
	Enrolment *Enrolment `json:"enrolment,omitempty"`
	// Revision is the number of the current revision; 0 is none yet.
	Revision int `json:"revision,omitempty"`
	// Verified is the number of the last revision that servers really booted.
	Verified int `json:"verified,omitempty"`
	// Adopted is an operator's word that the catalogue's image may replace an image of the
	// owner's own.
	Adopted *GroupAdoption `json:"adopted,omitempty"`
	// Pinned is the revision that the catalogue does not replace, with who said so.
	Pinned *GroupPin `json:"pinned,omitempty"`
	// Rejected are entries of the catalogue that are not used, by name.
	Rejected map[string]GroupReject `json:"rejected,omitempty"`
	// HotLoop is the fight with another writer, if there is one.
	HotLoop *HotLoop       `json:"hotLoop,omitempty"`
	Rollout *RolloutStatus `json:"rollout,omitempty"`
	// StubLimit is the highest specification of user data that the image reads which the group is to boot; empty
	// where nothing says it.
	StubLimit string `json:"stubLimit,omitempty"`
	// Skew says that an image in use is older than allowed; empty otherwise.
	Skew       string           `json:"skew,omitempty"`
	Conditions []ConditionState `json:"conditions,omitempty"`
	Counts     *GroupCounts     `json:"counts,omitempty"`
}

// Enrolment is whether a group is managed.
type Enrolment struct {
	Managed bool  `json:"managed"`
	Mode    OptIn `json:"mode"`
	// Explicit is false where nobody has said a mode.
	Explicit bool `json:"explicit"`
	// Skipped says why a group that is opted in is not managed; empty if it is.
	Skipped SkipReason `json:"skipped,omitempty"`
	Message string     `json:"message,omitempty"`
}

// SkipReason is why a group is passed over. It is a label of metrics.
type SkipReason string

// The reasons.
const (
	SkipFeatureOff   SkipReason = "feature-off"
	SkipOptedOut     SkipReason = "opted-out"
	SkipNotSelected  SkipReason = "not-selected"
	SkipOwner        SkipReason = "owner"
	SkipCustomImage  SkipReason = "custom-image"
	SkipArchitecture SkipReason = "architecture" // of no server is it known
)

// SkipReasons lists the reasons.
func SkipReasons() []SkipReason {
	return []SkipReason{SkipFeatureOff, SkipOptedOut, SkipNotSelected, SkipOwner, SkipCustomImage, SkipArchitecture}
}

// GroupAdoption gives up an image of the owner's own. Another image in the spec is not
// meant by it.
type GroupAdoption struct {
	Confirmation
	Image string `json:"image,omitempty"` // that the spec had then
}

// GroupPin keeps a group at a revision.
type GroupPin struct {
	Confirmation
	Revision int `json:"revision"`
}

// GroupReject is why an entry of the catalogue is not used.
type GroupReject struct {
	Confirmation
	Revision int `json:"revision,omitempty"` // that failed with it
}

// HotLoop counts how often the same image was applied again, because somebody put another
// in its place.
type HotLoop struct {
	Value  string `json:"value"` // what was applied: digests of images, by architecture
	Count  int    `json:"count"`
	Writer string `json:"writer,omitempty"` // who changed it, by the audit log
	// Times are of the last applications, RFC 3339; those out of the window count no more.
	Times []string `json:"times,omitempty"`
	Held  bool     `json:"held,omitempty"` // nothing is applied until rackctl group ack
}

// GroupCounts are the group's servers.
type GroupCounts struct {
	Servers int `json:"servers"`
	Current int `json:"current"` // boot what the current revision says
	Older   int `json:"older"`
	Unknown int `json:"unknown"` // nothing was observed
}

// Default fills the limits.
func (g *ServerGroup) Default() {
	g.APIVersion, g.Kind = APIVersion, KindServerGroup
	g.Spec.BootPolicy.Default()
	g.Spec.Rollout.Default()
	if g.Spec.HistoryLimit == 0 {
		g.Spec.HistoryLimit = 10
	}
}

// References names the Secret with the stub.
func (g *ServerGroup) References() []Reference {
	if g.Spec.Stub == nil {
		return nil
	}
	return ignitionReference("spec.stub.secretRef", &g.Spec.Stub.SecretRef)
}

// Validate reports wrong fields.
func (g *ServerGroup) Validate() protocol.FieldErrors {
	var f fields
	g.check(&f)
	if len(g.Metadata.Name) > maxGroupName {
		f.Add("metadata.name", "has %d characters, and may have %d: its revisions are named after it", len(g.Metadata.Name), maxGroupName)
	}
	g.Spec.Selector.check(&f, "spec.selector", "an empty selector would match every server")
	f.name("spec.catalogue", g.Spec.Catalogue)
	if g.Spec.Image != "" && imageDigest(g.Spec.Image) == "" {
		f.Add("spec.image", "%q has no @sha256:…; a tag means another image tomorrow", g.Spec.Image)
	}
	seen := map[string]bool{}
	for _, a := range g.Spec.Architectures {
		oneOf(&f, "spec.architectures", a, BootArchitectures()...)
		if seen[a] {
			f.Add("spec.architectures", "%s is given twice", a)
		}
		seen[a] = true
	}
	g.Spec.BootPolicy.check(&f, "spec.bootPolicy")
	if s := g.Spec.Stub; s != nil {
		s.SecretRef.checkIgnition(&f, "spec.stub.secretRef")
		if !s.Manage && (s.AcceptLoss || s.ReplaceCA != "") {
			f.Add("spec.stub.manage", "acceptLoss and replaceCA change the stub, which needs manage: true")
		}
	}
	if g.Spec.HistoryLimit < 2 || g.Spec.HistoryLimit > 100 {
		f.Add("spec.historyLimit", "%d is not between 2 and 100", g.Spec.HistoryLimit)
	}
	g.Spec.Rollout.check(&f, "spec.rollout", g.Spec.BootPolicy)
	f.params("spec.params", g.Spec.Params)
	checkSecrets(&f, "spec.secrets", g.Spec.Secrets)
	checkEvidence(&f, "spec.requireEvidence", g.Spec.RequireEvidence, PurposeClaim)
	return f.FieldErrors
}
