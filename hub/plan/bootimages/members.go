package bootimages

import (
	"slices"

	"rackboot/protocol/resource"
)

// Conflicts are the servers that more than one group selects, with those groups. selected
// are the servers that a selector matches, in order of name.
func Conflicts(groups []*resource.ServerGroup, selected func(resource.Selector) []*resource.Server) map[string][]string {
	by := map[string][]string{}
	for _, g := range groups {
		for _, s := range selected(g.Spec.Selector) {
			by[s.Metadata.Name] = append(by[s.Metadata.Name], g.Metadata.Name)
		}
	}
	for server, names := range by {
		if len(names) < 2 {
			delete(by, server)
		}
	}
	return by
}

// Architectures are what a group needs images for: what it declares, or else what its
// servers have. wrong are the servers with another one than is declared. A group without
// servers has what it declares (OCPBUGS-25725).
func Architectures(g *resource.ServerGroup, members []*resource.Server) (known, wrong []string) {
	for _, s := range members {
		a := s.Architecture()
		switch {
		case a == "":
		case len(g.Spec.Architectures) > 0:
			if !slices.Contains(g.Spec.Architectures, a) {
				wrong = append(wrong, s.Metadata.Name)
			}
		case !slices.Contains(known, a):
			known = append(known, a)
		}
	}
	if len(g.Spec.Architectures) > 0 {
		known = slices.Clone(g.Spec.Architectures)
	}
	slices.Sort(known)
	return known, wrong
}
