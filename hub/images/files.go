package images

import (
	"context"
	"maps"
	"slices"
	"time"

	"rackboot/hub/catalogue"
	"rackboot/hub/store"
	"rackboot/internal/pending"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Files has the files of boot images. It is safe for concurrent use.
type Files interface {
	// Fetch brings a file and verifies it, as the entry says.
	Fetch(ctx context.Context, file resource.BootImageFile) (resource.BootImageVerified, error)
	// Has says whether a content is there.
	Has(digest string) bool
	// Inspect says whether a content that is there is what its kind says, for the
	// architecture.
	Inspect(a resource.Artefact, arch string) error
}

const (
	// verifyTimeout bounds one try of all files of an entry; the next one goes on where it
	// ended, after the others had their turn.
	verifyTimeout  = 30 * time.Minute
	verifyPauseMin = 5 * time.Second
	verifyPauseMax = 15 * time.Minute
)

// entryKey is one entry of the catalogue; another one of the same name is another.
type entryKey struct{ name, uid string }

// bootFiles brings the files of entries in the background until all are verified, one
// entry at a time, and again after each start of the hub: what is there is looked at, and
// not fetched.
type bootFiles struct {
	room *Room
	jobs *pending.Set[entryKey] // bounded by the entries
}

func newBootFiles(room *Room) *bootFiles {
	b := &bootFiles{room: room}
	b.jobs = pending.New(pending.Config[entryKey]{
		Do: b.verify, Tried: func(entryKey) { room.wake.All() }, Timeout: verifyTimeout, MinPause: verifyPauseMin, MaxPause: verifyPauseMax, Clock: room.cfg.Clock,
	})
	return b
}

// verify brings and verifies the files of one entry that are not, each in the store as
// soon as it is: nothing is proved twice because another file of the entry fails.
func (b *bootFiles) verify(ctx context.Context, key entryKey) error {
	e, err := store.Peek[*resource.BootImage](b.room.cfg.Objects, key.name)
	if err != nil || e.Metadata.UID != key.uid {
		return nil //nolint:nilerr // it was deleted
	}
	files := b.room.cfg.Files
	if files == nil {
		return protocol.Errorf(protocol.CodeUnsupported, "verify boot image", "this hub fetches no files")
	}
	for _, arch := range slices.Sorted(maps.Keys(e.Spec.Architectures)) {
		for _, f := range e.Spec.Architectures[arch].Files {
			digest := catalogue.FileDigest(f)
			v, proved := e.Status.Verified[digest]
			if !proved || !files.Has(v.Digest) {
				if v, err = files.Fetch(ctx, f); err != nil {
					return about(arch, f, err)
				}
			}
			if err := files.Inspect(resource.Artefact{Kind: f.Kind, Digest: v.Digest, Size: v.Size}, arch); err != nil {
				return about(arch, f, err)
			}
			if proved && v.Digest == e.Status.Verified[digest].Digest {
				continue
			}
			if err := b.room.cfg.BootImages.PutVerified(ctx, key.name, key.uid, map[string]resource.BootImageVerified{digest: v}); err != nil {
				return err
			}
			b.room.cfg.Crash.At("hub.catalogue.verified")
		}
	}
	return nil
}

// about says of which file an error is.
func about(arch string, f resource.BootImageFile, err error) error {
	return protocol.Errorf(protocol.CodeOf(err), "verify boot image", "%s for %s: %w", f.Kind, arch, err).WithHint("%s", protocol.HintOf(err))
}

// Unfetched is why the last try to fetch and verify the files of an entry has failed; nil where it has not.
func (r *Room) Unfetched(b *resource.BootImage) error {
	_, err := r.files.jobs.State(entryKey{b.Metadata.Name, b.Metadata.UID})
	return err
}

// proved is how many files an entry has, and how many of them are verified.
func proved(b *resource.BootImage) (files, verified int) {
	for _, a := range b.Spec.Architectures {
		for _, f := range a.Files {
			files++
			if _, ok := b.Status.Verified[catalogue.FileDigest(f)]; ok {
				verified++
			}
		}
	}
	return files, verified
}
