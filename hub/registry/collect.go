package registry

import "time"

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
		return false
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
