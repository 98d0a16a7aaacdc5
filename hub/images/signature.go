package images

import (
	"context"
	"maps"
	"slices"

	"rackboot/hub/conditions"
	"rackboot/hub/plan/bootimages"
	"rackboot/hub/store"
	"rackboot/internal/pending"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Verifier judges OCI images by the keys of the hub's file. It is safe for concurrent use.
type Verifier interface {
	// Verify proves that the key of the name, or with an empty name any, has signed what the
	// reference (registry/repository@sha256:…) names. The codes unavailable, timeout,
	// internal and denied are the registry's; others stay until somebody corrects something.
	Verify(ctx context.Context, reference, key string) (*resource.ISOSignature, error)
	// Trusts says whether a proof of before still counts where that key is wanted.
	Trusts(proof resource.ISOSignature, key string) bool
}

// signedImage is the image of an entry for an architecture, whose signature is wanted.
type signedImage struct {
	entryKey
	arch string
}

// signatures asks registries in the background for the signatures of entries that are not
// proved, beside the files of others, which may take long. What was proved is stored, and
// not asked for again while its key is trusted.
type signatures struct {
	room *Room
	jobs *pending.Set[signedImage] // bounded by the entries
}

func newSignatures(room *Room) *signatures {
	s := &signatures{room: room}
	s.jobs = pending.New(pending.Config[signedImage]{
		Do: s.verify, Tried: func(signedImage) { room.wake.All() }, Timeout: resolveTimeout, MinPause: resolvePauseMin, MaxPause: resolvePauseMax, Clock: room.cfg.Clock,
	})
	return s
}

func (s *signatures) verify(ctx context.Context, key signedImage) error {
	e, err := store.Peek[*resource.BootImage](s.room.cfg.Objects, key.name)
	if err != nil || e.Metadata.UID != key.uid {
		return nil //nolint:nilerr // it was deleted
	}
	a := e.Spec.Architectures[key.arch]
	if s.proved(e, a) { // by another architecture with the same image
		return nil
	}
	if s.room.cfg.Verifier == nil {
		return protocol.Errorf(protocol.CodeUnsupported, "check signature", "this hub checks no signatures of OCI images")
	}
	by, err := s.room.cfg.Verifier.Verify(ctx, a.Image, a.Signature.Key)
	if err != nil {
		return err
	}
	_, digest := resource.SplitImage(a.Image)
	v := resource.BootImageVerified{At: s.room.cfg.Clock(), Digest: digest, Signature: by}
	if err := s.room.cfg.BootImages.PutVerified(ctx, key.name, key.uid, map[string]resource.BootImageVerified{digest: v}); err != nil {
		return err
	}
	s.room.cfg.Crash.At("hub.catalogue.verified")
	return nil
}

// proved says whether an entry's image needs no proof, or has one that counts.
func (s *signatures) proved(b *resource.BootImage, a resource.BootImageArch) bool {
	if a.Signature == nil {
		return true
	}
	_, digest := resource.SplitImage(a.Image)
	proof := b.Status.Verified[digest].Signature
	return proof != nil && s.room.cfg.Verifier != nil && s.room.cfg.Verifier.Trusts(*proof, a.Signature.Key)
}

// seen is how far the signature of an entry's image is, and why it is not proved.
func (s *signatures) seen(b *resource.BootImage, arch string) (bootimages.Seen, error) {
	if s.proved(b, b.Spec.Architectures[arch]) {
		return bootimages.SeenReady, nil
	}
	if _, err := s.jobs.State(signedImage{entryKey{b.Metadata.Name, b.Metadata.UID}, arch}); err != nil {
		return bootimages.SeenFailing, err
	}
	return bootimages.SeenAsked, nil
}

// wanted are the architectures of an entry that are not proved. They are asked for from then
// on, and noted in there.
func (s *signatures) wanted(b *resource.BootImage, there map[signedImage]bool) (archs []string) {
	for _, arch := range slices.Sorted(maps.Keys(b.Spec.Architectures)) {
		if !s.proved(b, b.Spec.Architectures[arch]) {
			key := signedImage{entryKey{b.Metadata.Name, b.Metadata.UID}, arch}
			there[key] = true
			s.jobs.Add(key)
			archs = append(archs, arch)
		}
	}
	return archs
}

// said is what an entry says of its architectures that are not proved, and whether one is
// refused; that a registry is away is none.
func (s *signatures) said(b *resource.BootImage, archs []string) (messages []string, refused bool) {
	for _, arch := range archs {
		if _, err := s.seen(b, arch); err != nil {
			messages = append(messages, arch+": "+conditions.Text(err))
			refused = refused || Refused(Unresolved(err).Code)
			continue
		}
		messages = append(messages, arch+": the signature is looked for")
	}
	return messages, refused
}
