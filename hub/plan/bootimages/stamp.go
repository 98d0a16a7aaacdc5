package bootimages

import (
	"fmt"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// StampFault is why a stamp does not count.
type StampFault string

// The faults.
const (
	StampGood    StampFault = "good"
	StampNone    StampFault = "none"
	StampVersion StampFault = "version"
	StampDigest  StampFault = "digest"
	StampHub     StampFault = "hub"
)

// StampValid says whether an entry may be booted by others than canaries under a version
// of the hub.
func StampValid(b *resource.BootImage, hub string) StampFault {
	s := b.Status.Stamp
	if s == nil {
		return StampNone
	}
	return stampRule(true, s.Version == b.Spec.Version, s.Digest == b.Digest(), s.HubVersion == hub)
}

// stampRule judges a stamp. The first row that fits decides.
//
//	stamp | version | digest | hub | fault
//	no    | *       | *      | *   | none
//	yes   | no      | *      | *   | version
//	yes   | yes     | no     | *   | digest
//	yes   | yes     | yes    | no  | hub
//	yes   | yes     | yes    | yes | good
//
// A hub of another version may have made something else of the same entry, so that a
// server proves it again (seed 001: the stamp is the new version of the operator).
func stampRule(is, version, digest, hub bool) StampFault {
	switch {
	case !is:
		return StampNone
	case !version:
		return StampVersion
	case !digest:
		return StampDigest
	case !hub:
		return StampHub
	}
	return StampGood
}

// Words says what is wrong with the stamp of an entry.
func (f StampFault) Words(b *resource.BootImage, hub string) string {
	switch f {
	case StampNone:
		return fmt.Sprintf("no server has booted %s yet", b.Metadata.Name)
	case StampVersion, StampDigest:
		return fmt.Sprintf("%s was altered since %s booted it", b.Metadata.Name, b.Status.Stamp.Server)
	case StampHub:
		return fmt.Sprintf("%s was booted under version %s of the hub, and this is %s", b.Metadata.Name, b.Status.Stamp.HubVersion, hub)
	case StampGood:
	}
	return ""
}

// Proof is that a server has really booted an image.
type Proof struct {
	Server   string
	Revision *resource.GroupRevision // that it was given
	Image    string                  // digest of what it booted
	Evidence protocol.EvidenceKind
	At       time.Time
}

// StampFor is the stamp that a proof gives an entry; nil if it proves nothing for it. The
// first row that fits decides.
//
//	entry | digest | image | evidence | stamps
//	no    | *      | *     | *        | no
//	yes   | no     | *     | *        | no
//	yes   | yes    | no    | *        | no
//	yes   | yes    | yes   | no       | no
//	yes   | yes    | yes   | yes      | yes
//
// entry and digest are those that the revision was made from. An operator's word that an
// image is on a disk is no evidence.
func StampFor(b *resource.BootImage, hub string, p Proof) *resource.BootImageStamp {
	r := p.Revision.Spec
	if !stamps(r.BootImage == b.Metadata.Name, r.BootImageDigest == b.Digest(), imageIn(r.Images, p.Image), p.Evidence != "") {
		return nil
	}
	return &resource.BootImageStamp{
		Version: b.Spec.Version, Digest: b.Digest(), HubVersion: hub, Server: p.Server, Image: p.Image, Evidence: p.Evidence, At: p.At,
	}
}

func stamps(entry, digest, image, evidence bool) bool { return entry && digest && image && evidence }

func imageIn(images map[string]resource.Image, digest string) bool {
	for _, i := range images {
		if digest != "" && i.Digest == digest {
			return true
		}
	}
	return false
}
