package status

import (
	"rackboot/hub/store"
	"rackboot/protocol/resource"
)

// claimBoot is what a claim boots as it was resolved; nil before.
func claimBoot(objs *store.Objects, owner string) *resource.ClaimBoot {
	made := store.Find(objs, store.ConfigsByOwner, owner)
	if len(made) == 0 {
		return nil
	}
	b := made[0]
	out := &resource.ClaimBoot{
		Reference: b.Spec.Image.Reference, Digest: b.Spec.Image.Digest, BootImage: b.Spec.Image.BootImage, State: b.Status.State, Generation: b.Metadata.Generation,
	}
	if entry, err := store.Peek[*resource.BootImage](objs, out.BootImage); out.BootImage != "" && err == nil {
		out.Version = entry.Spec.Version
	}
	if b.Spec.Group != "" {
		out.Revision = resource.GroupRevisionName(b.Spec.Group, b.Spec.Revision)
	}
	if p := b.Status.Provisioned; p != nil {
		at := p.At
		out.Booted, out.ProvisionedAt, out.Evidence = p.ImageDigest, &at, p.Evidence
	} else if a := b.Status.Adopted; a != nil {
		at := a.At
		out.Booted, out.ProvisionedAt, out.AdoptedBy = a.ImageDigest, &at, a.By
	}
	return out
}
