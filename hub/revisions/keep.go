package revisions

import (
	"slices"

	"rackboot/hub/plan"
	"rackboot/hub/plan/bootimages"
	"rackboot/hub/store"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// Keeps are the files that agents keep for a return of a group to an earlier revision, by
// rack: of groups that select a server of the rack, or that one boots by.
func (c *Room) Keeps(f plan.Fleet) map[string]*message.KeepIntent {
	groups := store.List[*resource.ServerGroup](c.cfg.Objects)
	if len(groups) == 0 {
		return nil
	}
	byRack := map[string][]bootimages.KeepGroup{}
	for _, g := range groups {
		archs := map[string][]string{} // by rack
		for _, m := range f.Selected(g.Spec.Selector) {
			addArch(archs, f.RackOf(m.Metadata.Name), m.Architecture())
		}
		for _, b := range f.ConfigsOf(g.Metadata.Name) {
			if s := f.Server(b.Spec.Server); s != nil {
				addArch(archs, f.RackOf(s.Metadata.Name), s.Architecture())
			}
		}
		history := store.Find(c.cfg.Objects, store.RevisionsByGroup, g.Metadata.UID)
		for rack, list := range archs {
			slices.Sort(list)
			byRack[rack] = append(byRack[rack], bootimages.KeepGroup{Group: g, History: history, Architectures: list})
		}
	}
	out := map[string]*message.KeepIntent{}
	for rack, list := range byRack { // whose groups are in order of name
		if keep := bootimages.Files(list); keep != nil {
			out[rack] = keep
		}
	}
	return out
}

func addArch(archs map[string][]string, rack, arch string) {
	if rack != "" && !slices.Contains(archs[rack], arch) {
		archs[rack] = append(archs[rack], arch)
	}
}
