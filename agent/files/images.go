package files

import (
	"context"
	"errors"
	"io"
	"maps"
	"sync"
	"time"

	"rackboot/agent/store"
	"rackboot/internal/pending"
	"rackboot/netboot/iso"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
	"rackboot/state/blob"
)

const (
	pullTimeout  = 30 * time.Minute
	pullPauseMin = 2 * time.Second
	pullPauseMax = time.Minute
)

// images brings boot files to the agent before they are needed (P7). One image
// is fetched at a time; each is verified once more after an agent's start.
type images struct {
	cfg     *Config
	uploads *uploads
	jobs    *pending.Set[string] // by manifest digest

	mu    sync.Mutex
	asked map[string]resource.Image // by manifest digest; bounded by the rack's claims
}

func newImages(cfg *Config, u *uploads) *images {
	f := &images{cfg: cfg, uploads: u, asked: map[string]resource.Image{}}
	f.jobs = pending.New(pending.Config[string]{
		Do: f.pull, Tried: func(string) { cfg.Servers.LookAtAll() }, Timeout: pullTimeout, MinPause: pullPauseMin, MaxPause: pullPauseMax, Clock: cfg.Clock,
	})
	return f
}

// want asks for an image; it does not wait.
func (f *images) want(image resource.Image) {
	f.mu.Lock()
	f.asked[image.Digest] = image
	f.mu.Unlock()
	f.jobs.Add(image.Digest)
}

// state is what a decision sees of an image.
func (f *images) state(image resource.Image) decide.Artefacts {
	done, err := f.jobs.State(image.Digest)
	if err == nil {
		return decide.Artefacts{Local: done}
	}
	code := resource.CondArtefactsFailed
	if errors.Is(err, blob.ErrInsufficient) {
		code = resource.CondInsufficientStorage
	}
	return decide.Artefacts{Failed: &resource.ConditionState{Code: code, Message: err.Error()}}
}

// keep forgets the images that no document names, and returns the digests of the files that
// stay: of those that one names, and of every open boot.
func (f *images) keep(o store.Overview) (files map[string]bool) {
	named := map[string]bool{}
	files = map[string]bool{}
	for _, in := range o.Intents {
		if in.Boot == nil || in.Boot.Env != nil {
			continue
		}
		for _, b := range in.Boot.All() {
			named[b.Image.Digest] = true
			for _, art := range b.Image.Artefacts {
				files[art.Digest] = true
			}
		}
	}
	for _, r := range o.Records { // loaders that were replaced since the boot began
		if a := r.Attempt; a.Open() && a.Order.Chain != nil {
			for _, file := range a.Order.Chain.Files {
				files[file.Digest] = true
			}
		}
		if r.Medium != nil { // a system may run from it
			files[r.Medium.Blob] = true
		}
	}
	f.jobs.Keep(func(digest string) bool { return named[digest] })
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.DeleteFunc(f.asked, func(digest string, _ resource.Image) bool { return !named[digest] })
	return files
}

func (f *images) note(err error) {
	if err != nil {
		f.cfg.Logger.Error("boot files", "err", err)
	}
}

// pull brings one image.
func (f *images) pull(ctx context.Context, digest string) error {
	f.mu.Lock()
	image, ok := f.asked[digest]
	f.mu.Unlock()
	if !ok {
		return nil // no document names it any more
	}
	err := f.verify(ctx, image)
	if err != nil {
		if err = f.bring(ctx, image); err == nil {
			err = f.verify(ctx, image)
		}
	}
	if err != nil {
		f.cfg.Logger.Warn("boot files could not be fetched", "image", digest, "err", err)
		return err
	}
	f.cfg.Logger.Info("boot files are local", "image", digest)
	f.note(f.cfg.Store.Events.Append(resource.Event{At: f.cfg.Clock(), Code: resource.EventArtefactsLocal, Message: digest}))
	return nil
}

// bring fetches the artefacts of an image that are not local, from where it says.
func (f *images) bring(ctx context.Context, image resource.Image) error {
	if image.Source == resource.ImageFromHub {
		return f.uploads.image(ctx, image)
	}
	return f.cfg.Puller.Pull(ctx, image)
}

// verify reads every artefact of the image against its digest.
func (f *images) verify(ctx context.Context, image resource.Image) error {
	for _, art := range image.Artefacts {
		if !f.cfg.Blobs.Has(art.Digest) {
			return protocol.Errorf(protocol.CodeNotFound, "verify boot files", "%s is not local", art.Digest)
		}
		if err := f.cfg.Blobs.Verify(ctx, art.Digest); err != nil {
			return err
		}
		if err := f.checkISO(art, image, iso.Check); err != nil {
			return err
		}
	}
	return nil
}

// checkISO looks at the whole of an ISO image that is local.
func (f *images) checkISO(art resource.Artefact, image resource.Image, check func(r io.ReaderAt, arch string) error) error {
	if art.Kind != resource.ArtefactISO {
		return nil
	}
	blob, _, err := f.cfg.Blobs.Open(art.Digest)
	if err != nil {
		return err
	}
	return errors.Join(check(blob, image.Architecture), blob.Close())
}
