package mirror

import (
	"context"
	"errors"
	"os"

	"rackboot/protocol"
	"rackboot/state/blob"
)

// has is a copy of what is known of a URL whose content is here.
func (s *store) has(key string) (entry, bool) {
	s.mu.Lock()
	e := s.entries[key]
	s.mu.Unlock()
	if e == nil {
		return entry{}, false
	}
	if !s.blobs.Has(digestOf(e.SHA256)) { // it was lost from the disk
		s.dropStale(key, e)
		return entry{}, false
	}
	return *e, true
}

// dropStale removes an entry, unless there is another by now.
func (s *store) dropStale(key string, e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries[key] == e {
		s.forget(key)
	}
}

// open opens a content; done is called when it is not read any more. Errors: not_found,
// internal.
func (s *store) open(hash string) (f *os.File, done func(), err error) {
	const op = "open cached file"
	done, ok := s.hold(hash)
	if !ok {
		return nil, nil, lost(op, s.dir)
	}
	f, _, err = s.blobs.Open(digestOf(hash))
	if err != nil {
		done()
		if protocol.CodeOf(err) == protocol.CodeNotFound {
			err = lost(op, s.dir)
		}
		return nil, nil, err
	}
	return f, done, nil
}

func lost(op, dir string) *protocol.Error {
	return protocol.Errorf(protocol.CodeNotFound, op, "the file is not in the cache %s any more", dir).
		WithHint("it is fetched again when the environment is built again; look whether somebody removes files there, and at the disk")
}

// hold keeps a content from being removed until done is called.
func (s *store) hold(hash string) (done func(), ok bool) {
	if !s.blobs.PinIfThere(digestOf(hash)) {
		return nil, false
	}
	return func() { s.release(hash) }, true
}

func (s *store) release(hash string) {
	if err := s.blobs.Unpin(digestOf(hash)); err != nil {
		s.logger.Error("pin of the mirror's cache", "content", hash, "err", err)
	}
	s.collect(hash)
}

// draft begins a file of the cache. size is negative where it is not known. Errors:
// unavailable, internal.
func (s *store) draft(size, limit int64) (*blob.Draft, error) {
	d, err := s.blobs.Draft(max(size, 0), limit)
	return d, s.roomError(err)
}

// roomError is an error of the blobs; where there is no room, in the words of the mirror.
func (s *store) roomError(err error) error {
	if !errors.Is(err, blob.ErrInsufficient) {
		return err
	}
	return protocol.Errorf(protocol.CodeUnavailable, "fetch", "no room in the mirror's cache %s: %w", s.dir, err).
		WithHint("raise repositories.quotaMiB in the agent's file, or free space on its disk; pinned files and those being read stay")
}

// renew writes what was heard of an entry, if it still describes the same content.
func (s *store) renew(key string, e entry) error {
	temp, err := s.records.stage(e)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.entries[key]; old == nil || old.SHA256 != e.SHA256 {
		return os.Remove(temp)
	}
	_, err = s.enter(temp, key, e)
	return err
}

// drop removes an entry.
func (s *store) drop(key string) {
	s.mu.Lock()
	e := s.entries[key]
	s.forget(key)
	s.mu.Unlock()
	if e != nil {
		s.collect(e.SHA256)
	}
}

// commit makes a draft the content of an entry, and returns the entry with its hash. A key
// that is empty enters none. The content is held until done is called.
func (s *store) commit(d *blob.Draft, key string, e entry) (kept entry, done func(), err error) {
	digest, _, err := d.Keep()
	if err != nil {
		return e, nil, s.roomError(err)
	}
	e.SHA256 = hashIn(digest)
	done = func() { s.release(e.SHA256) }
	if key != "" {
		err = s.describe(key, e)
	}
	if err != nil {
		done()
		return e, nil, err
	}
	return e, done, nil
}

// describe puts an entry on disk whose content is pinned by the caller.
func (s *store) describe(key string, e entry) error {
	temp, err := s.records.stage(e)
	if err != nil {
		return err
	}
	before, err := s.enterNamed(temp, key, e)
	if err != nil {
		return err
	}
	if before != "" {
		s.collect(before)
	}
	return s.records.settle()
}

func (s *store) enterNamed(temp, key string, e entry) (before string, err error) {
	s.naming.Lock()
	defer s.naming.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.enter(temp, key, e)
}

// verify reads a content once in the life of the process. A damaged one is removed.
// Errors: invalid (damaged), not_found, timeout, internal.
func (s *store) verify(ctx context.Context, hash string) error {
	const op = "verify cached file"
	err := s.blobs.VerifyOnce(ctx, digestOf(hash))
	code := protocol.CodeOf(err)
	if code == protocol.CodeNotFound {
		return lost(op, s.dir)
	}
	if code == protocol.CodeInvalid {
		return protocol.Errorf(protocol.CodeInvalid, op, "a file in the cache %s was damaged; it was removed", s.dir).
			WithHint("check the disk; the file is fetched again")
	}
	return err
}
