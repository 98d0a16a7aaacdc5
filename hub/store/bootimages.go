package store

import (
	"context"
	"fmt"
	"maps"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// BootImages are the entries of catalogues.
type BootImages struct{ objects *Objects }

// PutVerified writes what was proved of files of an entry, beside what is there. uid is
// that of the entry that was judged: another one of the name is not_found. The codes are
// not_found, conflict (after other writers won [writeTries] times), unavailable and timeout.
func (bi *BootImages) PutVerified(ctx context.Context, name, uid string, proved map[string]resource.BootImageVerified) error {
	for try := 1; ; try++ {
		b, err := Get[*resource.BootImage](bi.objects, name)
		if err != nil {
			return err
		}
		if b.Metadata.UID != uid {
			return notFound("put", resource.KindBootImage, name)
		}
		if b.Status.Verified == nil {
			b.Status.Verified = map[string]resource.BootImageVerified{}
		}
		maps.Copy(b.Status.Verified, proved)
		err = bi.objects.Put(ctx, b)
		if err == nil || protocol.CodeOf(err) != protocol.CodeConflict || try == writeTries {
			return err
		}
	}
}

// Unfollowed is a Guard that refuses an entry which a group boots: its current revision is of it. What the
// group has stays as it is without the entry; but one that is not pinned follows what is left in the catalogue.
func (bi *BootImages) Unfollowed() Guard {
	return func(obj resource.Object) error {
		name := obj.Head().Metadata.Name
		var who []string
		for _, r := range Find(bi.objects, RevisionsByBootImage, name) {
			g, err := Peek[*resource.ServerGroup](bi.objects, r.Spec.Group)
			if err == nil && g.Metadata.UID == r.Spec.GroupUID && g.Status.Revision == r.Spec.Number {
				who = append(who, fmt.Sprintf("%s (revision %d)", reference(resource.KindServerGroup, g.Metadata.Name), r.Spec.Number))
			}
		}
		if len(who) == 0 {
			return nil
		}
		return protocol.Errorf(protocol.CodeConflict, "delete BootImage", "%q is the current image of %s", name, joined(who)).
			WithHint("rackctl delete bootimage %s --force deletes it all the same: revisions keep what they boot, and a group that is not pinned follows what is left in its catalogue", name)
	}
}

// Files are the digests of the files that the hub itself keeps for servers: of every
// entry, those that were proved and those that are still on their way; and those of
// images in revisions and boot configurations, whose entry may be gone.
func (bi *BootImages) Files() map[string]bool {
	out := map[string]bool{}
	add := func(img resource.Image) {
		if img.Source == resource.ImageFromHub {
			for _, a := range img.Artefacts {
				out[a.Digest] = true
			}
		}
	}
	for _, b := range List[*resource.BootImage](bi.objects) {
		for _, arch := range b.Spec.Architectures {
			for _, f := range arch.Files {
				digest := "sha256:" + f.SHA256
				if v, ok := b.Status.Verified[digest]; ok {
					out[v.Digest] = true
					continue
				}
				out[digest] = true
				if f.UncompressedSHA256 != "" {
					out["sha256:"+f.UncompressedSHA256] = true
				}
			}
		}
	}
	for _, r := range List[*resource.GroupRevision](bi.objects) {
		for _, img := range r.Spec.Images {
			add(img)
		}
	}
	for _, b := range List[*resource.BootConfiguration](bi.objects) {
		add(b.Spec.Image)
		if b.Spec.Former != nil {
			add(b.Spec.Former.Image)
		}
	}
	return out
}
