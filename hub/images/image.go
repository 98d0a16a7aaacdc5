package images

import (
	"rackboot/hub/catalogue"
	"rackboot/hub/conditions"
	"rackboot/hub/plan/bootimages"
	"rackboot/hub/store"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Image is what an owner boots, by an OCI reference or as an entry of the catalogue, or the
// condition why there is none yet; both are nil while it is looked up.
func (r *Room) Image(unit string, q Question) (*resource.Image, *resource.ConditionState) {
	name := resource.BootImageName(q.Reference)
	if name == "" {
		return r.resolver.get(unit, q)
	}
	b, err := store.Peek[*resource.BootImage](r.cfg.Objects, name)
	if err != nil {
		return nil, Unresolved(err)
	}
	return r.entryImage(unit, b, q)
}

// entryImage is what an entry of the catalogue has for the architecture of a question, whose
// reference does not count.
func (r *Room) entryImage(unit string, b *resource.BootImage, q Question) (*resource.Image, *resource.ConditionState) {
	if q.Architecture == "" {
		arch, err := b.OnlyArchitecture()
		if err != nil {
			return nil, Unresolved(err)
		}
		q.Architecture = arch
	}
	if a := b.Spec.Architectures[q.Architecture]; a.Image != "" {
		if state, err := r.signed.seen(b, q.Architecture); err != nil {
			return nil, &resource.ConditionState{Code: resource.CondImageUnverified, Message: b.Metadata.Name + ": " + conditions.Text(err)}
		} else if state != bootimages.SeenReady {
			return nil, nil
		}
		q.Reference = a.Image
		img, cond := r.resolver.get(unit, q)
		if img != nil {
			img.BootImage = b.Metadata.Name // it is a copy
		}
		return img, cond
	}
	r.resolver.forget(func(o Question) bool { return o.Asker == q.Asker })
	img, err := catalogue.Image(b, q.Architecture)
	if protocol.CodeOf(err) == protocol.CodeUnavailable {
		message := b.Metadata.Name + ": " + conditions.Text(err)
		if _, why := r.files.jobs.State(entryKey{b.Metadata.Name, b.Metadata.UID}); why != nil {
			message = b.Metadata.Name + ": " + conditions.Text(why)
		}
		return nil, &resource.ConditionState{Code: resource.CondImageUnverified, Message: message}
	}
	if err == nil && q.Method != "" {
		err = r.cfg.Registry.Require(img, q.Method)
	}
	if err != nil {
		return nil, Unresolved(err)
	}
	return &img, nil
}
