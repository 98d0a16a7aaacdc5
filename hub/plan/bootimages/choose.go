package bootimages

import (
	"fmt"

	"rackboot/protocol/resource"
)

// Chosen is what a group is to boot.
type Chosen string

// The answers.
const (
	ChoosePinned  Chosen = "pinned"  // what it boots stays, whatever the catalogue has
	ChooseNothing Chosen = "nothing" // the catalogue has nothing for it; what it boots stays
	ChooseCurrent Chosen = "current" // it boots the newest
	ChooseTake    Chosen = "take"    // another entry is to take its place
)

// newest is the entry of a catalogue with the highest version that the group does not
// reject; nil if there is none. One that is being deleted is there no more.
func newest(entries []*resource.BootImage, g *resource.ServerGroup) (newest *resource.BootImage) {
	var highest resource.ImageVersion
	for _, e := range entries {
		version, err := resource.ParseImageVersion(e.Spec.Version)
		_, rejected := g.Status.Rejected[e.Metadata.Name]
		if !usable(e.Spec.Catalogue == g.Spec.Catalogue, rejected, err == nil, e.Metadata.DeletedAt != nil) {
			continue
		}
		if newest == nil || version.Compare(highest) > 0 {
			newest, highest = e, version
		}
	}
	return newest
}

// usable says whether an entry is to be compared. The first row that fits decides.
//
//	of the catalogue | rejected | version | goes | usable
//	no               | *        | *       | *    | no
//	yes              | yes      | *       | *    | no
//	yes              | no       | no      | *    | no
//	yes              | no       | yes     | yes  | no
//	yes              | no       | yes     | no   | yes
func usable(ours, rejected, readable, goes bool) bool { return ours && !rejected && readable && !goes }

// Choose says what becomes of a group's image. current is its revision; nil if it has
// none. The reason is for people, and empty for ChooseCurrent.
func Choose(entries []*resource.BootImage, g *resource.ServerGroup, current *resource.GroupRevision) (Chosen, *resource.BootImage, string) {
	newest := newest(entries, g)
	same := newest != nil && current != nil && current.Spec.BootImage == newest.Metadata.Name && current.Spec.BootImageDigest == newest.Digest()
	switch what := chooseRule(g.Status.Pinned != nil && current != nil, newest != nil, same); what {
	case ChoosePinned:
		return what, nil, fmt.Sprintf("pinned to revision %d by %s", g.Status.Pinned.Revision, g.Status.Pinned.By)
	case ChooseNothing:
		return what, nil, fmt.Sprintf("catalogue %s has no entry that the group does not reject", g.Spec.Catalogue)
	case ChooseTake:
		return what, newest, fmt.Sprintf("version %s of catalogue %s", newest.Spec.Version, g.Spec.Catalogue)
	default:
		return what, newest, ""
	}
}

// chooseRule decides. The first row that fits decides.
//
//	pinned | entry | same | chosen
//	yes    | *     | *    | pinned
//	no     | no    | *    | nothing
//	no     | yes   | yes  | current
//	no     | yes   | no   | take
//
// newest is what the catalogue has now: where entries vanish, as with a hub that is set
// back, the group follows to the highest that is left (seed 001, Downgrade). One whose
// content was altered under its name is another one.
func chooseRule(pinned, entry, same bool) Chosen {
	switch {
	case pinned:
		return ChoosePinned
	case !entry:
		return ChooseNothing
	case same:
		return ChooseCurrent
	}
	return ChooseTake
}
