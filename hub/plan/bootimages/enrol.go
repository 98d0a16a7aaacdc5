package bootimages

import (
	"fmt"

	"rackboot/protocol/resource"
)

// EnrolIn is what an enrolment is judged by.
type EnrolIn struct {
	// Feature is features.managedBootImages of the hub's file.
	Feature bool
	// Managed is nil where nobody has said a mode.
	Managed *resource.ManagedBootImages
	Group   *resource.ServerGroup
	// Architectures are those that the group declares, or that its servers have.
	Architectures []string
}

// ownImage is whose the image of a group is.
type ownImage string

const (
	imageNone    ownImage = "none"    // of the owner's own there is none
	imageCustom  ownImage = "custom"  // the owner's
	imageAdopted ownImage = "adopted" // the owner's, who has given it up
)

// Enrol says whether the catalogue decides what a group boots.
func Enrol(in EnrolIn) resource.Enrolment {
	out := resource.Enrolment{Mode: resource.OptInNone, Explicit: in.Managed != nil}
	selected := false
	if in.Managed != nil {
		out.Mode = in.Managed.Spec.Mode
		selected = in.Managed.Spec.Selector != nil && in.Managed.Spec.Selector.Matches(in.Group.Metadata.Labels)
	}
	out.Skipped = skipRule(in.Feature, out.Mode, selected, in.Group.Spec.ManagedBy != "", imageOf(in.Group), len(in.Architectures) > 0)
	out.Managed, out.Message = out.Skipped == "", skipped(out.Skipped, in.Group)
	return out
}

// skipRule says why a group is not managed. The first row that fits decides.
//
//	feature | mode    | selected | owner | image  | architecture | skipped
//	no      | *       | *        | *     | *      | *            | feature-off
//	yes     | None    | *        | *     | *      | *            | opted-out
//	yes     | Partial | no       | *     | *      | *            | not-selected
//	yes     | *       | *        | yes   | *      | *            | owner
//	yes     | *       | *        | no    | custom | *            | custom-image
//	yes     | *       | *        | no    | *      | no           | architecture
//	yes     | *       | *        | no    | *      | yes          | none
//
// A mode that is none of the three is as None: nothing that is not understood begins to
// change images. owner is that somebody else manages the group, as its spec says. An
// image of the owner's own is never replaced unless it was adopted: in the first release
// that managed all, custom images were overwritten (OCPBUGS-57348). There is no
// architecture that is taken where none is known (OCPBUGS-69674).
func skipRule(feature bool, mode resource.OptIn, selected, owner bool, image ownImage, architecture bool) resource.SkipReason {
	switch {
	case !feature:
		return resource.SkipFeatureOff
	case mode != resource.OptInPartial && mode != resource.OptInAll:
		return resource.SkipOptedOut
	case mode == resource.OptInPartial && !selected:
		return resource.SkipNotSelected
	case owner:
		return resource.SkipOwner
	case image == imageCustom:
		return resource.SkipCustomImage
	case !architecture:
		return resource.SkipArchitecture
	}
	return ""
}

func imageOf(g *resource.ServerGroup) ownImage {
	a := g.Status.Adopted
	switch {
	case g.Spec.Image == "":
		return imageNone
	case a != nil && a.Image == g.Spec.Image:
		return imageAdopted
	}
	return imageCustom
}

// Own says whether the group boots an image of its owner's own.
func Own(g *resource.ServerGroup) bool { return imageOf(g) == imageCustom }

// skipped says it in words.
func skipped(why resource.SkipReason, g *resource.ServerGroup) string {
	switch why {
	case resource.SkipFeatureOff:
		return "features.managedBootImages is off in the hub's file"
	case resource.SkipOptedOut:
		return "the mode of ManagedBootImages is None; the group keeps the image that it has"
	case resource.SkipNotSelected:
		return "the selector of ManagedBootImages does not match the group's labels; it keeps the image that it has"
	case resource.SkipOwner:
		return fmt.Sprintf("%s manages it, as spec.managedBy says: without that it follows its catalogue", g.Spec.ManagedBy)
	case resource.SkipCustomImage:
		return fmt.Sprintf("spec.image is %s, which is the owner's own: rackctl group adopt %s --reason REASON gives the group to the catalogue", g.Spec.Image, g.Metadata.Name)
	case resource.SkipArchitecture:
		return "no architecture is known, of no server that has its labels; declare spec.architectures, or set spec.architecture of the Servers"
	}
	return ""
}

// visible says whether people are to be told that a group is passed over: it is opted in,
// and something else decides.
func visible(e resource.Enrolment) bool {
	return e.Skipped == resource.SkipOwner || e.Skipped == resource.SkipCustomImage || e.Skipped == resource.SkipArchitecture
}
