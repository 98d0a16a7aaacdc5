package registry

import (
	"maps"
	"time"

	"rackboot/protocol"
)

const (
	collectEvery = 10 * time.Minute
	// keepFor is how long what no manifest names stays: a push sends its blobs first.
	keepFor = time.Hour
)

// arrive notes that a blob came, or was found here by who pushes, so that it stays until the
// manifest comes.
func (r *Registry) arrive(digest string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrived[digest] = r.cfg.Clock()
}

// seen reports whether a blob is there, and notes it.
func (r *Registry) seen(digest string) bool {
	if !r.blobs.Has(digest) {
		_, elsewhere := r.elsewhere(digest)
		return elsewhere
	}
	r.arrive(digest)
	return true
}

// collect removes what no manifest has named for an hour. After a start the hour begins anew.
func (r *Registry) collect() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire()
	now, needed := r.cfg.Clock(), r.book.needed()
	if r.cfg.Shared != nil { // of the folder's book there is what has not been moved yet
		shared, err := r.cfg.Shared.Book.Needed()
		if err != nil {
			r.cfg.Logger.Warn("nothing is removed from the registry's folder", "err", err, "hint", protocol.HintOf(err))
			return
		}
		maps.Copy(needed, shared)
		r.dropParts(needed)
	}
	for _, digest := range r.blobs.Digests() {
		since, known := r.arrived[digest]
		switch {
		case needed[digest]:
			delete(r.arrived, digest)
		case !known:
			r.arrived[digest] = now
		case now.Sub(since) > keepFor:
			if err := r.blobs.Remove(digest); err != nil {
				r.cfg.Logger.Warn("a blob that nobody needs stays", "digest", digest, "err", err)
				continue
			}
			delete(r.arrived, digest)
			r.metrics.removed.Inc()
		}
	}
}

// dropParts removes what came of blobs that nobody needs any more. r.mu is held.
func (r *Registry) dropParts(needed map[string]bool) {
	for _, p := range r.blobs.Parts() {
		if needed[p.Digest] {
			continue
		}
		if err := r.blobs.DropPart(p.Digest); err != nil {
			r.cfg.Logger.Debug("a part that nobody needs stays", "digest", p.Digest, "err", err)
		}
	}
}
