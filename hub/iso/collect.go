package iso

import (
	"maps"
	"time"
)

// collectAfter is how long a content stays that nothing names: a document that names it
// may be on its way into the ledger.
const collectAfter = 10 * time.Minute

// collect removes what nobody needs. Where there is nothing it asks nobody: the answer is in the
// documents of all agents.
func (s *Shelf) collect() {
	parts, digests := s.blobs.Parts(), s.blobs.Digests()
	if len(parts)+len(digests) == 0 {
		return
	}
	needed, err := s.needed()
	if err != nil {
		s.log.Warn("nothing is removed: what agents need is not known", "err", err)
		return
	}
	now := s.cfg.Clock()
	for _, p := range parts {
		if needed[p.Digest] || !s.due(p.Digest, now) {
			continue
		}
		if err := s.blobs.DropPart(p.Digest); err != nil {
			s.log.Warn("what came of an upload was not removed", "digest", p.Digest, "err", err)
		}
	}
	for _, digest := range digests {
		if needed[digest] || !s.due(digest, now) || s.named(digest) {
			continue
		}
		if err := s.blobs.Remove(digest); err != nil {
			s.log.Warn("a file that nobody needs was not removed", "digest", digest, "err", err)
			continue
		}
		s.metrics.collected.Inc()
		s.log.Info("a file that nobody needs was removed", "digest", digest)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for digest, since := range s.unneeded {
		if needed[digest] || now.Sub(since) >= 2*collectAfter {
			delete(s.unneeded, digest)
		}
	}
}

// due says whether nobody has needed a content for long enough.
func (s *Shelf) due(digest string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	since, known := s.unneeded[digest]
	if !known {
		s.unneeded[digest] = now
		return false
	}
	return now.Sub(since) >= collectAfter
}

// needed are the contents that a name, an upload or a document names.
func (s *Shelf) needed() (map[string]bool, error) {
	named, err := s.cfg.Needed()
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	maps.Copy(out, named)
	for _, f := range s.cfg.Store.ISOs.List() {
		out[f.Digest] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.uploads {
		out[u.Digest] = true
	}
	for digest := range s.contents {
		out[digest] = true
	}
	return out, nil
}

// named says whether a name of the book has the content.
func (s *Shelf) named(digest string) bool {
	for _, f := range s.cfg.Store.ISOs.List() {
		if f.Digest == digest {
			return true
		}
	}
	return false
}
