package mirror

import (
	"container/list"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"rackboot/protocol"
)

// The first letters of the cache's files.
const (
	prefixContent = "d-"
	prefixEntry   = "e-"
	prefixPin     = "p-"
	prefixTemp    = "t-"
)

// block is what a file takes at least, and what its description takes, in bytes; it
// bounds the number of files too.
const block = 4 << 10

// store is the cache on disk. Its methods are safe for concurrent use.
type store struct {
	dir            string
	lock           *os.File
	quota, minFree int64
	logger         *slog.Logger
	evicted        func()

	mu       sync.Mutex
	entries  map[string]*entry   // by key
	contents map[string]*content // by hash
	pins     map[string]pin      // by name
	recent   list.List           // of *content, the last used first
	used     int64               // bytes of contents, with what goes with them
	reserved int64               // bytes of fetches under way
}

// content is the bytes of one or several URLs.
type content struct {
	hash     string
	size     int64
	keys     map[string]bool
	pins     int
	open     int // readers, and fetches that will pin it
	verified bool
	touched  time.Time
	at       *list.Element
}

// cost is the room that a content takes, in bytes.
func cost(size int64) int64 { return (size+block-1)/block*block + block }

func openStore(op string, c Config) (*store, error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	lock, err := os.Open(c.Dir)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInternal, op, "%w", err)
	}
	s := &store{
		dir: c.Dir, lock: lock, quota: c.Quota, minFree: c.MinFree, logger: c.Logger, evicted: func() {},
		entries: map[string]*entry{}, contents: map[string]*content{}, pins: map[string]pin{},
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(protocol.Errorf(protocol.CodeConflict, op, "lock %s: %w", c.Dir, err).
			WithHint("stop the other process that uses the folder; lsof %s names it", c.Dir), lock.Close())
	}
	if err := s.load(); err != nil {
		return nil, errors.Join(protocol.Errorf(protocol.CodeInternal, op, "%w", err), lock.Close())
	}
	return s, nil
}

func (s *store) close() error { return s.lock.Close() }

func (s *store) path(name string) string { return filepath.Join(s.dir, name) }

// forget removes an entry, and its content if nothing else needs it. The lock is held.
func (s *store) forget(key string) {
	e := s.entries[key]
	if e == nil {
		return
	}
	delete(s.entries, key)
	s.discard(prefixEntry + key)
	c := s.contents[e.SHA256]
	if c == nil {
		return
	}
	delete(c.keys, key)
	s.collect(c)
}

// collect removes a content that nothing needs. The lock is held.
func (s *store) collect(c *content) {
	if len(c.keys) > 0 || c.pins > 0 || c.open > 0 || s.contents[c.hash] != c {
		return
	}
	s.remove(c)
}

// remove removes a content and all that names it. Open files stay readable. The lock is
// held.
func (s *store) remove(c *content) {
	for key := range c.keys {
		delete(s.entries, key)
		s.discard(prefixEntry + key)
	}
	delete(s.contents, c.hash)
	s.recent.Remove(c.at)
	s.used -= cost(c.size)
	s.discard(prefixContent + c.hash)
}

// discard removes a file of the cache. One that stays is found by the next load.
func (s *store) discard(name string) {
	if err := os.Remove(s.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.logger.Warn("file of the mirror's cache not removed", "path", s.path(name), "err", err)
	}
}

// add enters a content as the last used. The lock is held, or not needed.
func (s *store) add(hash string, size int64) *content {
	c := &content{hash: hash, size: size, keys: map[string]bool{}}
	for _, p := range s.pins { // one that was lost, and is here again
		for _, f := range p.Files {
			if f.SHA256 == hash {
				c.pins++
			}
		}
	}
	c.at = s.recent.PushFront(c)
	s.contents[hash] = c
	s.used += cost(size)
	return c
}

// stage writes a description aside, for a rename.
func (s *store) stage(value any) (temp string, err error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(s.dir, prefixTemp)
	if err != nil {
		return "", err
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// place gives a staged file its name, or removes it. It is durable after the next
// settle.
func (s *store) place(temp, name string) error {
	if err := os.Rename(temp, s.path(name)); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}

// settle makes names durable.
func (s *store) settle() error { return s.lock.Sync() }

// enter places a staged entry, whose content is there. The lock is held.
func (s *store) enter(temp, key string, e entry) error {
	if err := s.place(temp, prefixEntry+key); err != nil {
		return err
	}
	if old := s.entries[key]; old != nil && old.SHA256 != e.SHA256 {
		if c := s.contents[old.SHA256]; c != nil {
			delete(c.keys, key)
			s.collect(c)
		}
	}
	s.entries[key] = &e
	s.contents[e.SHA256].keys[key] = true
	return nil
}

// use notes that a content is used. The access time, which survives a restart, is moved
// once a minute. The lock is held.
func (s *store) use(c *content, now time.Time) {
	s.recent.MoveToFront(c.at)
	if now.Sub(c.touched) < time.Minute {
		return
	}
	c.touched = now
	if err := os.Chtimes(s.path(prefixContent+c.hash), now, time.Time{}); err != nil {
		s.logger.Warn("time of last use not kept", "path", s.path(prefixContent+c.hash), "err", err)
	}
}

// usage counts for the metrics, in bytes.
func (s *store) usage() (used, pinned int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.contents {
		if c.pins > 0 {
			pinned += cost(c.size)
		}
	}
	return s.used, pinned
}

// below counts the files whose URLs begin so, and their bytes.
func (s *store) below(prefix string) (files int, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries {
		if strings.HasPrefix(e.URL, prefix) {
			files++
			bytes += e.Size
		}
	}
	return files, bytes
}
