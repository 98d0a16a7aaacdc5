package store

import (
	"fmt"

	"rackboot/protocol/resource"
)

// AnnotationManagedStub is the annotation of a Secret that the hub has translated: the
// Secret that it was made from. People do not write such a Secret, and the hub writes no
// Secret of that name without it.
const AnnotationManagedStub = "rackboot/managed-stub-of"

// ofGroup holds a new claim of a group's image to the group's boot policy: by another one
// the image was not checked. A claim that is not changed is left alone, so that the group
// may get another policy.
func (c *checker) ofGroup(i int, it applyItem, cl *resource.Claim, lookup func(resource.Kind, string) resource.Object) {
	if cl.Spec.ImageFrom == nil || it.old != nil && it.old.Head().Metadata.Generation == cl.Metadata.Generation {
		return
	}
	g, ok := lookup(resource.KindServerGroup, cl.Spec.ImageFrom.Group).(*resource.ServerGroup)
	if ok && !g.Spec.BootPolicy.Same(cl.Spec.BootPolicy) {
		c.add(i, "spec.bootPolicy", "group %q boots by %s; say the same", g.Metadata.Name, policyWords(g.Spec.BootPolicy))
	}
}

func policyWords(p resource.BootPolicy) string {
	words := fmt.Sprintf("firstBoot: %s, boot: %s, osReboot: %s", p.FirstBoot, p.Boot, p.OSReboot)
	if p.Network != "" {
		words += fmt.Sprintf(", network: %s", p.Network)
	}
	return "{" + words + "}"
}
