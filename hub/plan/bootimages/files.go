package bootimages

import (
	"slices"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// KeepGroup is a group of which servers of a rack are.
type KeepGroup struct {
	Group   *resource.ServerGroup
	History []*resource.GroupRevision // those that are kept
	// Architectures are of the rack's servers of the group.
	Architectures []string
}

// Files are the files of images that agents of a rack keep for a return; nil is none. Those
// of the current and of the last verified revision come first. Of the others, the newest of
// each group come before the second newest of any.
func Files(groups []KeepGroup) *message.KeepIntent {
	out := &message.KeepIntent{}
	seen := map[string]bool{}
	add := func(list *[]string, g KeepGroup, r *resource.GroupRevision) {
		for _, arch := range g.Architectures {
			for _, a := range r.Spec.Images[arch].Artefacts {
				if !seen[a.Digest] && len(seen) < message.MaxKeep {
					seen[a.Digest] = true
					*list = append(*list, a.Digest)
				}
			}
		}
	}
	longest := 0
	for _, g := range groups {
		for _, r := range g.History {
			if n := r.Spec.Number; n == g.Group.Status.Revision || n == g.Group.Status.Verified {
				add(&out.Always, g, r)
			}
		}
		longest = max(longest, len(g.History))
	}
	for back := range longest {
		for _, g := range groups {
			if back >= len(g.History) {
				continue
			}
			newestFirst := slices.Clone(g.History)
			slices.SortFunc(newestFirst, func(a, b *resource.GroupRevision) int { return b.Spec.Number - a.Spec.Number })
			add(&out.Older, g, newestFirst[back])
		}
	}
	if len(seen) == 0 {
		return nil
	}
	return out
}
