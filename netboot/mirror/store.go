package mirror

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"

	"rackboot/protocol"
	"rackboot/state/blob"
)

// contentFolder has the contents.
const contentFolder = "content"

// block is what a file takes at least, and what its description takes, in bytes; it
// bounds the number of files too.
const block = 4 << 10

// store is what is known of URLs and pins, on disk; the contents themselves are blobs. Its
// methods are safe for concurrent use. The blobs are never called with mu held: they tell
// of evictions.
type store struct {
	dir     string
	blobs   *blob.Store
	records *records
	logger  *slog.Logger
	evict   func()

	// naming is held while a content gets a name, and while one without a name is removed: so
	// none is removed that gets a name just then. It is taken before mu.
	naming sync.Mutex

	mu      sync.Mutex
	entries map[string]*entry          // by key
	names   map[string]map[string]bool // keys by the hash of what they name
	pins    map[string]pin             // by name
}

func openStore(op string, c Config) (*store, error) {
	s := &store{
		dir: c.Dir, logger: c.Logger, evict: func() {},
		entries: map[string]*entry{}, names: map[string]map[string]bool{}, pins: map[string]pin{},
	}
	var err error
	if s.blobs, err = blob.Open(blob.Config{
		Dir: filepath.Join(c.Dir, contentFolder), Quota: c.Quota, MinFree: c.MinFree, Block: block, Evicted: s.evicted, Logger: c.Logger,
	}); err != nil {
		return nil, err
	}
	if s.records, err = openRecords(c.Dir, c.Logger); err == nil {
		err = s.load()
	}
	if err != nil {
		return nil, errors.Join(protocol.Errorf(protocol.CodeInternal, op, "%w", err), s.close())
	}
	return s, nil
}

func (s *store) close() error {
	err := s.blobs.Close()
	if s.records != nil {
		err = errors.Join(err, s.records.folder.Close())
	}
	return err
}

// digestOf is how the blobs call a content.
func digestOf(hash string) string { return "sha256:" + hash }

// hashIn is the hash in a digest.
func hashIn(digest string) string { return strings.TrimPrefix(digest, "sha256:") }

// evicted forgets all that names a blob which was removed to make room.
func (s *store) evicted(digest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.names[hashIn(digest)] {
		s.forget(key)
	}
	s.evict()
	s.logger.Debug("file removed from the mirror's cache to make room", "content", hashIn(digest))
}

// forget removes an entry. The lock is held.
func (s *store) forget(key string) {
	e := s.entries[key]
	if e == nil {
		return
	}
	delete(s.entries, key)
	s.unname(e.SHA256, key)
	s.records.discard(prefixEntry + key)
}

// name notes that a key names a content. The lock is held, or not needed.
func (s *store) name(hash, key string) {
	if s.names[hash] == nil {
		s.names[hash] = map[string]bool{}
	}
	s.names[hash][key] = true
}

// unname is the opposite of name. The lock is held.
func (s *store) unname(hash, key string) {
	delete(s.names[hash], key)
	if len(s.names[hash]) == 0 {
		delete(s.names, hash)
	}
}

// collect removes contents that nothing names. One that is pinned or read stays until
// that ends.
func (s *store) collect(hashes ...string) {
	s.naming.Lock()
	defer s.naming.Unlock()
	for _, hash := range hashes {
		if s.named(hash) {
			continue
		}
		if err := s.blobs.Remove(digestOf(hash)); err != nil && protocol.CodeOf(err) != protocol.CodeInvalid { // invalid: it is pinned
			s.logger.Warn("file of the mirror's cache not removed", "content", hash, "err", err)
		}
	}
}

func (s *store) named(hash string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.names[hash]) > 0
}

// enter places a staged entry, whose content is pinned by the caller. It returns the hash
// that the key named before, or empty. The lock is held.
func (s *store) enter(temp, key string, e entry) (before string, err error) {
	if err := s.records.place(temp, prefixEntry+key); err != nil {
		return "", err
	}
	if old := s.entries[key]; old != nil && old.SHA256 != e.SHA256 {
		before = old.SHA256
		s.unname(before, key)
	}
	s.entries[key] = &e
	s.name(e.SHA256, key)
	return before, nil
}

// usage counts for the metrics, in bytes.
func (s *store) usage() (used, pinned int64) {
	s.mu.Lock()
	held := map[string]bool{}
	for _, p := range s.pins {
		for _, f := range p.Files {
			held[f.SHA256] = true
		}
	}
	s.mu.Unlock()
	for hash := range held {
		pinned += s.blobs.Room(digestOf(hash))
	}
	return s.blobs.Used(), pinned
}

// each calls a function with all that is known of URLs, with the lock held.
func (s *store) each(f func(key string, e *entry)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, e := range s.entries {
		f(key, e)
	}
}
