package bootimages

import (
	"maps"
	"slices"
	"strings"
	"time"

	"rackboot/protocol/resource"
)

// Next is what a revision is made of.
type Next struct {
	Group   *resource.ServerGroup
	Current *resource.GroupRevision // nil: there is none
	History []*resource.GroupRevision
	Entry   *resource.BootImage // nil: an image of the owner's own
	Images  map[string]resource.Image
	Stub    StubSeen
	Stamp   *resource.BootImageStamp // one that counts; nil without
	By      string
	Reason  string
	At      time.Time
}

// Revision is the next line of a group's history; nil where nothing differs from the
// current one. Image and user data change together (MCO#4601: one without the other boots
// nothing).
func Revision(n Next) *resource.GroupRevisionSpec {
	spec := resource.GroupRevisionSpec{
		Group: n.Group.Metadata.Name, GroupUID: n.Group.Metadata.UID, Number: number(n.Group, n.History), At: n.At, By: n.By, Reason: n.Reason,
		Images: n.Images, Verified: verified(n.Entry, n.Images), BootPolicy: n.Group.Spec.BootPolicy, Stub: n.Stub.Stub, OriginalStub: n.Stub.Original, StubVersion: n.Stub.Version, Stamp: n.Stamp,
	}
	if n.Entry != nil {
		spec.BootImage, spec.Version, spec.BootImageDigest = n.Entry.Metadata.Name, n.Entry.Spec.Version, n.Entry.Digest()
	}
	var was resource.GroupRevisionSpec
	if n.Current != nil {
		was = n.Current.Spec
		spec.Parent = was.Number
	}
	image := Value(was.Images) == Value(spec.Images) && was.BootImage == spec.BootImage
	// What the owner names is compared, and not what was made of it: the same is
	// translated to the same.
	stub := sameStub(was.OriginalStub, spec.OriginalStub) && sameStub(was.Stub, spec.Stub) && was.BootPolicy.Same(spec.BootPolicy)
	spec.Cause = causeRule(n.Current != nil, image, stub, n.Entry != nil, imageOf(n.Group) == imageAdopted && n.Current != nil && was.BootImage == "")
	if spec.Cause == "" {
		return nil
	}
	return &spec
}

// causeRule says why there is to be another revision; empty is that there is none. The
// first row that fits decides.
//
//	current | image same | stub same | entry | adopted | cause
//	no      | *          | *         | yes   | *       | catalogue
//	no      | *          | *         | no    | *       | manual
//	yes     | yes        | yes       | *     | *       | none
//	yes     | yes        | no        | *     | *       | stub
//	yes     | no         | *         | yes   | yes     | adopt
//	yes     | no         | *         | yes   | no      | catalogue
//	yes     | no         | *         | no    | *       | manual
//
// stub is the user data with the boot policy. adopted is that an image of the owner's own
// was current, which the owner has given up.
func causeRule(current, image, stub, entry, adopted bool) resource.RevisionCause {
	switch {
	case current && image && stub:
		return ""
	case current && image:
		return resource.CauseStub
	case !entry:
		return resource.CauseManual
	case current && adopted:
		return resource.CauseAdopt
	}
	return resource.CauseCatalogue
}

// number is the number of a group's next revision.
func number(g *resource.ServerGroup, history []*resource.GroupRevision) int {
	last := g.Status.Revision
	for _, r := range history {
		last = max(last, r.Spec.Number)
	}
	return last + 1
}

// Rollback is the revision that returns to an older one, image and user data as one pair.
func Rollback(n Next, to *resource.GroupRevision, cause resource.RevisionCause) *resource.GroupRevisionSpec {
	spec := to.Spec
	spec.Group, spec.GroupUID, spec.Number = n.Group.Metadata.Name, n.Group.Metadata.UID, number(n.Group, n.History)
	spec.At, spec.By, spec.Reason, spec.Cause, spec.CopyOf, spec.Stamp = n.At, n.By, n.Reason, cause, to.Spec.Number, n.Stamp
	spec.Parent = 0
	if n.Current != nil {
		spec.Parent = n.Current.Spec.Number
	}
	return &spec
}

// Applied is a group's status once a revision of it is current. A return to an older one
// pins the group, so that the catalogue does not undo it at once, and rejects what it
// returned from. Doing it again changes nothing.
func Applied(was resource.ServerGroupStatus, next, parent *resource.GroupRevision) resource.ServerGroupStatus {
	s := next.Spec
	was.Revision = s.Number
	if s.Cause != resource.CauseRollback && s.Cause != resource.CauseAutoRollback {
		return was
	}
	word := resource.Confirmation{By: s.By, Reason: s.Reason, At: s.At}
	was.Pinned = &resource.GroupPin{Confirmation: word, Revision: s.Number}
	if parent != nil && parent.Spec.BootImage != "" && parent.Spec.BootImage != s.BootImage {
		rejected := maps.Clone(was.Rejected)
		if rejected == nil {
			rejected = map[string]resource.GroupReject{}
		}
		rejected[parent.Spec.BootImage] = resource.GroupReject{Confirmation: word, Revision: parent.Spec.Number}
		was.Rejected = rejected
	}
	return was
}

// Value is what a revision boots, the same for the same: digests by architecture.
func Value(images map[string]resource.Image) string {
	var parts []string
	for _, arch := range slices.Sorted(maps.Keys(images)) {
		parts = append(parts, arch+"="+images[arch].Digest)
	}
	return strings.Join(parts, " ")
}

func sameStub(a, b *resource.IgnitionRef) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.UID == b.UID && a.Digest == b.Digest
}

// Change is one field in which two revisions differ.
type Change struct {
	Field string `json:"field"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// Diff are the fields in which two revisions differ, in a fixed order. User data is named
// by Secret and version, and never shown.
func Diff(a, b *resource.GroupRevision) (out []Change) {
	add := func(field, from, to string) {
		if from != to {
			out = append(out, Change{field, from, to})
		}
	}
	x, y := a.Spec, b.Spec
	add("bootImage", x.BootImage, y.BootImage)
	add("version", x.Version, y.Version)
	archs := map[string]bool{}
	for arch := range x.Images {
		archs[arch] = true
	}
	for arch := range y.Images {
		archs[arch] = true
	}
	for _, arch := range slices.Sorted(maps.Keys(archs)) {
		from, to := x.Images[arch], y.Images[arch]
		add("images["+arch+"]", from.Digest, to.Digest)
		for _, kind := range resource.ArtefactKinds() {
			f, _ := from.Artefact(kind)
			t, _ := to.Artefact(kind)
			add("images["+arch+"]."+string(kind), f.Digest, t.Digest)
		}
		add("images["+arch+"].commandLine", from.CommandLine, to.CommandLine)
		add("verified["+arch+"]", verifiedWords(x.Verified[arch]), verifiedWords(y.Verified[arch]))
	}
	add("bootPolicy.firstBoot", string(x.BootPolicy.FirstBoot), string(y.BootPolicy.FirstBoot))
	add("bootPolicy.network", string(x.BootPolicy.Network), string(y.BootPolicy.Network))
	add("bootPolicy.boot", string(x.BootPolicy.Boot), string(y.BootPolicy.Boot))
	add("originalStub", stubWords(x.OriginalStub), stubWords(y.OriginalStub))
	add("stub", stubWords(x.Stub), stubWords(y.Stub))
	add("stubVersion", x.StubVersion, y.StubVersion)
	return out
}

func stubWords(r *resource.IgnitionRef) string {
	if r == nil {
		return ""
	}
	return r.Secret + "@" + r.Digest
}
