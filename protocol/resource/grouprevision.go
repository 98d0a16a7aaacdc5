package resource

import (
	"fmt"
	"time"

	"rackboot/protocol"
)

// GroupRevision is one numbered line of a group's history: what its servers boot from
// then on. It is made by the hub, named GROUP-NUMBER, and its spec never changes (seed
// 001, MachineSetBootImageHistory).
type GroupRevision struct {
	Header
	Spec   GroupRevisionSpec   `json:"spec"`
	Status GroupRevisionStatus `json:"status,omitzero"`
}

// GroupRevisionName is the name of a group's revision.
func GroupRevisionName(group string, number int) string { return fmt.Sprintf("%s-%d", group, number) }

// RevisionCause is why a revision was made.
type RevisionCause string

// The causes.
const (
	CauseCatalogue    RevisionCause = "catalogue"     // the catalogue has a newer entry
	CauseManual       RevisionCause = "manual"        // somebody chose an entry or an image
	CauseRollback     RevisionCause = "rollback"      // somebody returned to an older revision
	CauseAutoRollback RevisionCause = "auto-rollback" // a roll-out failed
	CauseAdopt        RevisionCause = "adopt"         // an image of the owner's own was given up
	CauseStub         RevisionCause = "stub"          // the user data changed
)

// RevisionCauses lists the causes.
func RevisionCauses() []RevisionCause {
	return []RevisionCause{CauseCatalogue, CauseManual, CauseRollback, CauseAutoRollback, CauseAdopt, CauseStub}
}

// GroupRevisionSpec is what was applied, image and stub as one.
type GroupRevisionSpec struct {
	Group string `json:"group"`
	// GroupUID is of the group: one that is made again under the same name begins anew.
	GroupUID string        `json:"groupUID,omitempty"`
	Number   int           `json:"number"` // from 1, without gaps
	At       time.Time     `json:"at"`
	By       string        `json:"by"`
	Cause    RevisionCause `json:"cause"`
	Reason   string        `json:"reason,omitempty"`
	// Parent is the number of the revision that was current before; 0 is none. CopyOf is
	// the one that a rollback returned to.
	Parent int `json:"parent,omitempty"`
	CopyOf int `json:"copyOf,omitempty"`
	// BootImage is the catalogue's entry, and its digest; empty for an image of the
	// owner's own.
	BootImage       string          `json:"bootImage,omitempty"`
	Version         string          `json:"version,omitempty"`
	BootImageDigest string          `json:"bootImageDigest,omitempty"`
	Stamp           *BootImageStamp `json:"stamp,omitempty"` // nil: not stamped then, and for canaries only
	// Images are by architecture, resolved to digests.
	Images map[string]Image `json:"images"`
	// Verified is, by architecture, how each file of the image was verified when the
	// revision was made. A return has what the revision that it copies had.
	Verified   map[string][]VerifiedFile `json:"verified,omitempty"`
	BootPolicy BootPolicy                `json:"bootPolicy"`
	// Stub is what first boots get; nil is none. Original is the Secret that people named,
	// and differs from Stub where it was translated.
	Stub         *IgnitionRef `json:"stub,omitempty"`
	OriginalStub *IgnitionRef `json:"originalStub,omitempty"`
	StubVersion  string       `json:"stubVersion,omitempty"` // of the specification
}

// VerifiedFile is how one file of an image was verified.
type VerifiedFile struct {
	// Kind is the file's; empty is a whole OCI image.
	Kind ArtefactKind `json:"kind,omitempty"`
	// SHA256 is the hash that was compared, sha256:…: of the file as it was fetched, or of
	// an OCI manifest.
	SHA256 string `json:"sha256"`
	// Scheme and Key are of the signature that was verified, as in [ISOSignature]; Keyring is whose word the key
	// is good by.
	Scheme  SignatureScheme `json:"scheme,omitempty"`
	Key     string          `json:"key,omitempty"`
	Keyring KeyringOwner    `json:"keyring,omitempty"`
	// Unsigned says why no signature was verified; empty if one was.
	Unsigned string `json:"unsigned,omitempty"`
}

// GroupRevisionStatus is how it went. It is stored.
type GroupRevisionStatus struct {
	Result  RolloutPhase `json:"result,omitempty"`
	Message string       `json:"message,omitempty"`
	EndedAt *time.Time   `json:"endedAt,omitempty"`
	Booted  int          `json:"booted,omitempty"` // servers that were seen to boot it
	Failed  int          `json:"failed,omitempty"`
	// Verified says that servers booted it and stayed up for the soak time.
	Verified bool `json:"verified,omitempty"`
}

// Default sets kind and version.
func (r *GroupRevision) Default() { r.APIVersion, r.Kind = APIVersion, KindGroupRevision }

// Validate reports wrong fields.
func (r *GroupRevision) Validate() protocol.FieldErrors {
	var f fields
	r.check(&f)
	return f.FieldErrors
}

// ImageFor is the image for an architecture; where that is not known, the only one. The codes are
// not_found and conflict.
func (r *GroupRevision) ImageFor(arch string) (Image, error) {
	if arch == "" {
		only, err := onlyKey(r.Metadata.Name, r.Spec.Images)
		if err != nil {
			return Image{}, err
		}
		arch = only
	}
	img, ok := r.Spec.Images[arch]
	if !ok {
		return Image{}, protocol.Errorf(protocol.CodeNotFound, "choose image", "%s has no image for %s", r.Metadata.Name, arch)
	}
	return img, nil
}
