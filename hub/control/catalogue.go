package control

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"rackboot/hub/conditions"
	"rackboot/hub/wake"
	"slices"
	"strings"
	"time"

	"rackboot/hub/catalogue"
	"rackboot/hub/plan/bootimages"
	"rackboot/hub/store"
	"rackboot/pending"
	"rackboot/protocol"
)

// Catalogue has the files of boot images. It is safe for concurrent use.
type Catalogue interface {
	// Fetch brings a file and verifies it, as the entry says.
	Fetch(ctx context.Context, file protocol.BootImageFile) (protocol.BootImageVerified, error)
	// Has says whether a content is there.
	Has(digest string) bool
	// Inspect says whether a content that is there is what its kind says, for the
	// architecture.
	Inspect(a protocol.Artefact, arch string) error
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
	c    *Control
	jobs *pending.Set[entryKey] // bounded by the entries
}

func newBootFiles(c *Control) *bootFiles {
	b := &bootFiles{c: c}
	b.jobs = pending.New(pending.Config[entryKey]{
		Do: b.verify, Tried: func(entryKey) { c.wake.All() }, Timeout: verifyTimeout, MinPause: verifyPauseMin, MaxPause: verifyPauseMax, Clock: c.cfg.Clock,
	})
	return b
}

// verify brings and verifies the files of one entry that are not, each in the store as
// soon as it is: nothing is proved twice because another file of the entry fails.
func (b *bootFiles) verify(ctx context.Context, key entryKey) error {
	e, err := store.Peek[*protocol.BootImage](b.c.cfg.Store, key.name)
	if err != nil || e.Metadata.UID != key.uid {
		return nil //nolint:nilerr // it was deleted
	}
	files := b.c.cfg.Catalogue
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
			if err := files.Inspect(protocol.Artefact{Kind: f.Kind, Digest: v.Digest, Size: v.Size}, arch); err != nil {
				return about(arch, f, err)
			}
			if proved && v.Digest == e.Status.Verified[digest].Digest {
				continue
			}
			if err := b.c.cfg.Store.PutVerified(ctx, key.name, key.uid, map[string]protocol.BootImageVerified{digest: v}); err != nil {
				return err
			}
			b.c.cfg.Crash.At("hub.catalogue.verified")
		}
	}
	return nil
}

// about says of which file an error is.
func about(arch string, f protocol.BootImageFile, err error) error {
	return protocol.Errorf(protocol.CodeOf(err), "verify boot image", "%s for %s: %w", f.Kind, arch, err).WithHint("%s", protocol.HintOf(err))
}

// proved is how many files an entry has, and how many of them are verified.
func proved(b *protocol.BootImage) (files, verified int) {
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

// bootImages keeps every entry's files and signatures on their way, and says what is not
// verified. News of it are events.
func (c *Control) bootImages(ctx context.Context) {
	conds, there, signed := map[string][]protocol.ConditionState{}, map[entryKey]bool{}, map[signedImage]bool{}
	for _, b := range store.List[*protocol.BootImage](c.cfg.Store) {
		// OCI images are compared with their digests when they are pulled.
		messages, failed := c.signed.said(b, c.signed.wanted(b, signed))
		if files, verified := proved(b); files > 0 {
			key := entryKey{b.Metadata.Name, b.Metadata.UID}
			there[key] = true
			c.files.jobs.Add(key)
			done, err := c.files.jobs.State(key)
			switch {
			case err != nil:
				messages, failed = append(messages, conditions.Text(err)), true
			case !done && verified < files:
				messages = append(messages, fmt.Sprintf("%d of %d files are verified; the others are being fetched", verified, files))
			}
		}
		message := strings.Join(messages, "; ")
		c.sayVerified(ctx, b, message, failed)
		if message != "" {
			conds[b.Metadata.Name] = []protocol.ConditionState{{Code: protocol.CondImageUnverified, Message: message}}
		}
	}
	c.files.jobs.Keep(func(k entryKey) bool { return there[k] })
	c.signed.jobs.Keep(func(k signedImage) bool { return signed[k] })
	c.imageConds.Keep(wake.SiteUnit, conds, c.cfg.Clock())
}

// sayVerified files an event when an entry's files fail in another way than before, and
// when all of them are verified.
func (c *Control) sayVerified(ctx context.Context, b *protocol.BootImage, message string, failed bool) {
	was := c.imageConds.Of(b.Metadata.Name)
	switch {
	case failed && (len(was) == 0 || was[0].Message != message):
		c.Events.OwnOf(ctx, protocol.TargetOf(b), "", protocol.EventBootImage, b.Metadata.Name+": "+message)
	case message == "" && len(was) > 0:
		c.Events.OwnOf(ctx, protocol.TargetOf(b), "", protocol.EventBootImage, b.Metadata.Name+" is verified")
	}
}

// image is what an owner boots, by an OCI reference or as an entry of the catalogue, or the
// condition why there is none yet; both are nil while it is looked up.
func (c *Control) image(unit string, q question) (*protocol.Image, *protocol.ConditionState) {
	name := protocol.BootImageName(q.reference)
	if name == "" {
		return c.images.get(unit, q)
	}
	b, err := store.Peek[*protocol.BootImage](c.cfg.Store, name)
	if err != nil {
		return nil, unresolved(err)
	}
	return c.entryImage(unit, b, q)
}

// entryImage is what an entry of the catalogue has for the architecture of a question, whose
// reference does not count.
func (c *Control) entryImage(unit string, b *protocol.BootImage, q question) (*protocol.Image, *protocol.ConditionState) {
	if a := b.Spec.Architectures[q.arch]; a.Image != "" {
		if state, err := c.signed.seen(b, q.arch); err != nil {
			return nil, &protocol.ConditionState{Code: protocol.CondImageUnverified, Message: b.Metadata.Name + ": " + conditions.Text(err)}
		} else if state != bootimages.SeenReady {
			return nil, nil
		}
		q.reference = a.Image
		img, cond := c.images.get(unit, q)
		if img != nil {
			img.BootImage = b.Metadata.Name // it is a copy
		}
		return img, cond
	}
	c.images.forget(func(o question) bool { return o.claimUID == q.claimUID })
	img, err := catalogue.Image(b, q.arch)
	if protocol.CodeOf(err) == protocol.CodeUnavailable {
		message := b.Metadata.Name + ": " + conditions.Text(err)
		if _, why := c.files.jobs.State(entryKey{b.Metadata.Name, b.Metadata.UID}); why != nil {
			message = b.Metadata.Name + ": " + conditions.Text(why)
		}
		return nil, &protocol.ConditionState{Code: protocol.CondImageUnverified, Message: message}
	}
	if err == nil && q.method != "" {
		err = c.cfg.Images.Require(img, q.method)
	}
	if err != nil {
		return nil, unresolved(err)
	}
	return &img, nil
}

// imageStates counts the entries by how far their files and signatures are.
func (c *Control) imageStates() map[string]int {
	out := map[string]int{"verified": 0, "unverified": 0, "failed": 0}
	for _, b := range store.List[*protocol.BootImage](c.cfg.Store) {
		_, err := c.files.jobs.State(entryKey{b.Metadata.Name, b.Metadata.UID})
		asked := false
		for arch := range b.Spec.Architectures {
			state, why := c.signed.seen(b, arch)
			asked = asked || state == bootimages.SeenAsked
			err = cmp.Or(err, why)
		}
		switch files, verified := proved(b); {
		case err != nil:
			out["failed"]++
		case verified < files || asked:
			out["unverified"]++
		default:
			out["verified"]++
		}
	}
	return out
}
