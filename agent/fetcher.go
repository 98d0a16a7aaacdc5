package agent

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"rackboot/agent/store"
	"rackboot/netboot/iso"
	"rackboot/pending"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/resource"
	"rackboot/state/blob"
)

// Puller brings every artefact of an image into the blob store, verified.
type Puller interface {
	Pull(ctx context.Context, image resource.Image) error
}

const (
	pullTimeout  = 30 * time.Minute
	pullPauseMin = 2 * time.Second
	pullPauseMax = time.Minute
)

// fetcher brings boot files to the agent before they are needed (P7). One image
// is fetched at a time; each is verified once more after an agent's start.
type fetcher struct {
	agent *Agent
	jobs  *pending.Set[string] // by manifest digest

	mu     sync.Mutex
	images map[string]resource.Image // that were asked for; bounded by the rack's claims
	pinned map[string]bool           // digests of files
	kept   keptFiles                 // of those, and of what there was no room for
}

func newFetcher(a *Agent) *fetcher {
	f := &fetcher{agent: a, images: map[string]resource.Image{}, pinned: map[string]bool{}}
	f.jobs = pending.New(pending.Config[string]{
		Do: f.pull, Tried: func(string) { a.lookAtAll() }, Timeout: pullTimeout, MinPause: pullPauseMin, MaxPause: pullPauseMax, Clock: a.cfg.Clock,
	})
	return f
}

// want asks for an image; it does not wait.
func (f *fetcher) want(image resource.Image) {
	f.mu.Lock()
	f.images[image.Digest] = image
	f.mu.Unlock()
	f.jobs.Add(image.Digest)
}

// state is what a decision sees of an image.
func (f *fetcher) state(image resource.Image) decide.Artefacts {
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

// pin keeps the files of every image that a document names, and of every open boot, and
// their user data. User data that nothing names any more is destroyed.
func (f *fetcher) pin(o store.Overview) {
	f.mu.Lock()
	defer f.mu.Unlock()
	named := map[string]bool{}
	files := map[string]bool{}
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
		if a := r.Attempt; a.Open() && a.Chain != nil {
			for _, file := range a.Chain.Files {
				files[file.Digest] = true
			}
		}
		if r.Medium != nil { // a system may run from it
			files[r.Medium.Blob] = true
		}
	}
	for _, digest := range append(f.agent.userData.keep(o), f.agent.envs.keep(o)...) {
		files[digest] = true
	}
	f.keep(o.Rack.Keep, files)
	f.jobs.Keep(func(digest string) bool { return named[digest] })
	maps.DeleteFunc(f.images, func(digest string, _ resource.Image) bool { return !named[digest] })
	for digest := range files {
		if !f.pinned[digest] {
			f.note(f.agent.cfg.Blobs.Pin(digest))
		}
	}
	for digest := range f.pinned {
		if !files[digest] {
			f.note(f.agent.cfg.Blobs.Unpin(digest))
		}
	}
	f.pinned = files
	f.agent.userData.destroy(files)
}

func (f *fetcher) note(err error) {
	if err != nil {
		f.agent.log.Error("boot files", "err", err)
	}
}

// pull brings one image.
func (f *fetcher) pull(ctx context.Context, digest string) error {
	f.mu.Lock()
	image, ok := f.images[digest]
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
		f.agent.log.Warn("boot files could not be fetched", "image", digest, "err", err)
		return err
	}
	f.agent.log.Info("boot files are local", "image", digest)
	f.note(f.agent.store.Append(resource.Event{At: f.agent.cfg.Clock(), Code: resource.EventArtefactsLocal, Message: digest}))
	return nil
}

// bring fetches the artefacts of an image that are not local, from where it says.
func (f *fetcher) bring(ctx context.Context, image resource.Image) error {
	if image.Source == resource.ImageFromHub {
		return f.agent.isos.image(ctx, image)
	}
	return f.agent.cfg.Puller.Pull(ctx, image)
}

// verify reads every artefact of the image against its digest.
func (f *fetcher) verify(ctx context.Context, image resource.Image) error {
	for _, art := range image.Artefacts {
		if !f.agent.cfg.Blobs.Has(art.Digest) {
			return protocol.Errorf(protocol.CodeNotFound, "verify boot files", "%s is not local", art.Digest)
		}
		if err := f.agent.cfg.Blobs.Verify(ctx, art.Digest); err != nil {
			return err
		}
		if err := f.checkISO(art, image, iso.Check); err != nil {
			return err
		}
	}
	return nil
}
