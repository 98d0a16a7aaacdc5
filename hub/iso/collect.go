package iso

import (
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/hub/store"
	"rackboot/state"
	"rackboot/state/blob"
)

// collectAfter is how long a content stays that nothing names: a document that names it
// may be on its way into the ledger.
const collectAfter = 10 * time.Minute

// removal removes contents that nobody needs.
type removal struct {
	blobs     *blob.Store
	store     *store.Store
	uploads   *uploads
	contents  *contents
	documents func() (map[string]bool, error) // what documents name; see Config.Needed
	log       *slog.Logger
	clock     state.Clock
	collected prometheus.Counter

	mu       sync.Mutex
	unneeded map[string]time.Time // since when, by digest
}

// collect removes what nobody needs. Where there is nothing it asks nobody: the answer is in the
// documents of all agents.
func (r *removal) collect() {
	parts, digests := r.blobs.Parts(), r.blobs.Digests()
	if len(parts)+len(digests) == 0 {
		return
	}
	needed, err := r.needed()
	if err != nil {
		r.log.Warn("nothing is removed: what agents need is not known", "err", err)
		return
	}
	now := r.clock()
	for _, p := range parts {
		if needed[p.Digest] || !r.due(p.Digest, now) {
			continue
		}
		if err := r.blobs.DropPart(p.Digest); err != nil {
			r.log.Warn("what came of an upload was not removed", "digest", p.Digest, "err", err)
		}
	}
	for _, digest := range digests {
		if needed[digest] || !r.due(digest, now) || r.contents.named(digest) {
			continue
		}
		if err := r.blobs.Remove(digest); err != nil {
			r.log.Warn("a file that nobody needs was not removed", "digest", digest, "err", err)
			continue
		}
		r.collected.Inc()
		r.log.Info("a file that nobody needs was removed", "digest", digest)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for digest, since := range r.unneeded {
		if needed[digest] || now.Sub(since) >= 2*collectAfter {
			delete(r.unneeded, digest)
		}
	}
}

// due says whether nobody has needed a content for long enough.
func (r *removal) due(digest string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	since, known := r.unneeded[digest]
	if !known {
		r.unneeded[digest] = now
		return false
	}
	return now.Sub(since) >= collectAfter
}

// Named are the contents that a name, a package of agents or a document names. While it fails nobody knows what is
// needed.
func (s *Shelf) Named() (map[string]bool, error) { return s.removal.named() }

func (r *removal) named() (map[string]bool, error) {
	documents, err := r.documents()
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	maps.Copy(out, documents)
	maps.Copy(out, Programs(r.store.AgentPackages))
	for _, f := range r.store.ISOs.List() {
		out[f.Digest] = true
	}
	return out, nil
}

// needed are the contents that are named, and those of uploads.
func (r *removal) needed() (map[string]bool, error) {
	out, err := r.named()
	if err != nil {
		return nil, err
	}
	r.uploads.mu.Lock()
	for _, u := range r.uploads.byID {
		out[u.Digest] = true
	}
	r.uploads.mu.Unlock()
	r.contents.mu.Lock()
	defer r.contents.mu.Unlock()
	for digest := range r.contents.byDigest {
		out[digest] = true
	}
	return out, nil
}
