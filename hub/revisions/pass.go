package revisions

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"rackboot/hub/plan"
	"rackboot/hub/plan/bootimages"
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// At plans a look.
func (p *Pass) At(t time.Time) {
	if !t.IsZero() && (p.Due.IsZero() || t.Before(p.Due)) {
		p.Due = t
	}
}

func sortRevisions(list []*resource.GroupRevision) {
	slices.SortFunc(list, func(a, b *resource.GroupRevision) int { return cmp.Compare(a.Spec.Number, b.Spec.Number) })
}

// Revision is a group's revision of a number; nil if there is none.
func (p *Pass) Revision(g *resource.ServerGroup, number int) *resource.GroupRevision {
	for _, r := range p.History[g.Metadata.UID] {
		if r.Spec.Number == number {
			return r
		}
	}
	return nil
}

// forgetServers drops what is kept of servers that are gone.
func (c *Room) forgetServers(servers map[string]bool) {
	maps.DeleteFunc(c.opened, func(name string, _ bootedPage) bool { return !servers[name] })
}

// Pass is what one look at all groups shares.
type Pass struct {
	Fleet     plan.Fleet
	Now       time.Time
	Managed   *resource.ManagedBootImages // nil: nobody has said a mode
	Groups    []*resource.ServerGroup
	Entries   []*resource.BootImage
	History   map[string][]*resource.GroupRevision // by UID of the group, in order of number
	Conflicts map[string][]string
	Versions  map[string]string // by digest of an image
	Due       time.Time         // of the next look; zero is none
}

// Begin is a Pass over what there is now.
func (c *Room) Begin(f plan.Fleet) *Pass {
	s := c.cfg.Objects
	p := &Pass{
		Fleet: f, Now: c.cfg.Clock().UTC(), Groups: store.List[*resource.ServerGroup](s), Entries: store.List[*resource.BootImage](s),
		History: map[string][]*resource.GroupRevision{}, Versions: map[string]string{},
	}
	if m, err := store.Peek[*resource.ManagedBootImages](s, resource.ManagedBootImagesName); err == nil {
		p.Managed = m
	}
	for _, r := range store.List[*resource.GroupRevision](s) {
		p.History[r.Spec.GroupUID] = append(p.History[r.Spec.GroupUID], r)
		for _, img := range r.Spec.Images {
			p.Versions[img.Digest] = cmp.Or(p.Versions[img.Digest], r.Spec.Version)
		}
	}
	for _, list := range p.History {
		sortRevisions(list)
	}
	p.Conflicts = bootimages.Conflicts(p.Groups, f.Selected)
	servers := map[string]bool{}
	for _, srv := range f.Servers {
		servers[srv.Metadata.Name] = true
	}
	c.forgetServers(servers)
	there := map[string]bool{}
	for _, g := range p.Groups {
		there[g.Metadata.UID] = true
	}
	c.places.forget(there)
	return p
}
