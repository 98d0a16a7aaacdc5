package agent

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"rackboot/agent/store"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/state/blob"
)

// Puller brings every artefact of an image into the blob store, verified.
type Puller interface {
	Pull(ctx context.Context, image protocol.Image) error
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
	poked chan struct{}

	mu     sync.Mutex
	images map[string]*fetching // by manifest digest; bounded by the rack's claims
	pinned map[string]bool      // digests of files
}

type fetching struct {
	image  protocol.Image
	local  bool
	wanted bool
	failed *protocol.ConditionState
	pause  time.Duration
	next   time.Time
}

func newFetcher(a *Agent) *fetcher {
	return &fetcher{agent: a, poked: make(chan struct{}, 1), images: map[string]*fetching{}, pinned: map[string]bool{}}
}

// want asks for an image; it does not wait.
func (f *fetcher) want(image protocol.Image) {
	f.mu.Lock()
	e := f.images[image.Digest]
	if e == nil {
		e = &fetching{image: image}
		f.images[image.Digest] = e
	}
	news := !e.local && !e.wanted
	e.wanted = e.wanted || news
	f.mu.Unlock()
	if news {
		select {
		case f.poked <- struct{}{}:
		default:
		}
	}
}

// state is what a decision sees of an image.
func (f *fetcher) state(image protocol.Image) decide.Artefacts {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.images[image.Digest]
	if e == nil {
		return decide.Artefacts{}
	}
	return decide.Artefacts{Local: e.local, Failed: e.failed}
}

// pin keeps the files of every image that a document names.
func (f *fetcher) pin(o store.Overview) {
	f.mu.Lock()
	defer f.mu.Unlock()
	named := map[string]bool{}
	files := map[string]bool{}
	for _, in := range o.Intents {
		if in.Boot == nil {
			continue
		}
		named[in.Boot.Image.Digest] = true
		for _, art := range in.Boot.Image.Artefacts {
			files[art.Digest] = true
		}
	}
	maps.DeleteFunc(f.images, func(digest string, _ *fetching) bool { return !named[digest] })
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
}

func (f *fetcher) note(err error) {
	if err != nil {
		f.agent.log.Error("boot files", "err", err)
	}
}

func (f *fetcher) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-f.poked:
		}
		wait := pullPauseMax
		for {
			e, until := f.due()
			if e == nil {
				wait = until
				break
			}
			f.pull(ctx, e)
			if ctx.Err() != nil {
				return nil
			}
		}
		timer.Reset(wait)
	}
}

// due is the next image to fetch, or how long until one is.
func (f *fetcher) due() (*fetching, time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, wait := f.agent.cfg.Clock(), pullPauseMax
	for _, e := range f.images {
		if e.local || !e.wanted {
			continue
		}
		if !now.Before(e.next) {
			return e, 0
		}
		wait = min(wait, e.next.Sub(now))
	}
	return nil, wait
}

func (f *fetcher) pull(ctx context.Context, e *fetching) {
	ctx, cancel := context.WithTimeout(ctx, pullTimeout)
	defer cancel()
	err := f.verify(ctx, e.image)
	if err != nil {
		if err = f.agent.cfg.Puller.Pull(ctx, e.image); err == nil {
			err = f.verify(ctx, e.image)
		}
	}
	f.mu.Lock()
	now := f.agent.cfg.Clock()
	if err == nil {
		e.local, e.failed, e.wanted = true, nil, false
	} else {
		code := protocol.CondArtefactsFailed
		if errors.Is(err, blob.ErrInsufficient) {
			code = protocol.CondInsufficientStorage
		}
		e.failed = &protocol.ConditionState{Code: code, Since: now, Message: err.Error()}
		e.pause = min(max(e.pause*2, pullPauseMin), pullPauseMax)
		e.next = now.Add(e.pause)
	}
	f.mu.Unlock()
	if err == nil {
		f.agent.log.Info("boot files are local", "image", e.image.Digest)
		f.note(f.agent.store.Append(protocol.Event{At: now, Code: protocol.EventArtefactsLocal, Message: e.image.Digest}))
	} else {
		f.agent.log.Warn("boot files could not be fetched", "image", e.image.Digest, "err", err)
	}
	for _, s := range f.agent.all() {
		s.poke()
	}
}

// verify reads every artefact of the image against its digest.
func (f *fetcher) verify(ctx context.Context, image protocol.Image) error {
	for _, art := range image.Artefacts {
		if !f.agent.cfg.Blobs.Has(art.Digest) {
			return protocol.Errorf(protocol.CodeNotFound, "verify boot files", "%s is not local", art.Digest)
		}
		if err := f.agent.cfg.Blobs.Verify(ctx, art.Digest); err != nil {
			return err
		}
	}
	return nil
}
