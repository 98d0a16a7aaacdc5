package fsview

import (
	"archive/zip"
	"bytes"
	"container/list"
	"errors"
	"io"
	"os"
	"sync"

	"rackboot/protocol"
)

const (
	// spoolBytes bounds what of a zip is unpacked at a time, in bytes.
	spoolBytes = 4 << 30
	// heldBytes is the largest entry that is unpacked to memory, and heldTotal what all of
	// them may be; the others go to disk.
	heldBytes = 256 << 10
	heldTotal = 8 << 20
)

// spool keeps deflated entries unpacked, so that they can be read at any offset and have
// the size that was said: small ones in memory, the others each in a file that has no name
// any more. An entry is unpacked once for all that have it open, and kept afterwards until
// the room is needed for another; the one that was not opened for the longest time goes
// first. One that does not fit beside those that are open is an unavailable error.
type spool struct {
	dir  string
	most int64

	mu     sync.Mutex
	used   int64
	held   int64     // of used, in memory
	idle   list.List // *packed, the longest first
	closed bool
}

func newSpool(dir string, most int64) *spool {
	if most <= 0 {
		most = spoolBytes
	}
	return &spool{dir: dir, most: most}
}

// packed is a deflated entry.
type packed struct {
	f     *zip.File
	spool *spool

	unpacking sync.Mutex // by one at a time
	// The rest is the spool's.
	body  body // nil while it is not unpacked
	held  bool
	users int
	place *list.Element // in idle
}

// body is what an entry was unpacked to.
type body interface{ io.ReaderAt }

func (p *packed) size() int64 { return int64(p.f.UncompressedSize64) }

func (p *packed) open() (io.ReaderAt, func() error, error) {
	p.unpacking.Lock()
	defer p.unpacking.Unlock()
	if b := p.spool.take(p); b != nil {
		return b, p.done, nil
	}
	if err := p.spool.reserve(p); err != nil {
		return nil, nil, err
	}
	b, err := p.unpack()
	if err != nil {
		p.spool.give(p)
		return nil, nil, err
	}
	p.spool.put(p, b)
	return b, p.done, nil
}

func (p *packed) done() error { return p.spool.release(p) }

// unpack unpacks to memory or to a file, and checks size and sum.
func (p *packed) unpack() (body, error) {
	in, err := p.f.Open()
	if err != nil {
		return nil, spoiled(p.f.Name)
	}
	defer in.Close()
	if p.held {
		b := bytes.NewBuffer(make([]byte, 0, p.size()))
		if n, err := io.Copy(b, io.LimitReader(in, p.size()+1)); err != nil || n != p.size() {
			return nil, spoiled(p.f.Name)
		}
		return bytes.NewReader(b.Bytes()), nil
	}
	out, err := os.CreateTemp(p.spool.dir, "rackboot-zip-")
	if err != nil {
		return nil, p.spool.full(err)
	}
	// Nobody needs the name, and without it nothing is left behind by a crash.
	if err := os.Remove(out.Name()); err != nil {
		out.Close()
		return nil, p.spool.full(err)
	}
	w := &written{w: out}
	n, err := io.Copy(w, io.LimitReader(in, p.size()+1))
	switch {
	case w.err != nil:
		out.Close()
		return nil, p.spool.full(w.err)
	case err != nil || n != p.size():
		out.Close()
		return nil, spoiled(p.f.Name)
	}
	return out, nil
}

// written tells an error of the disk from one of what is written.
type written struct {
	w   io.Writer
	err error
}

func (w *written) Write(b []byte) (n int, err error) {
	n, w.err = w.w.Write(b)
	return n, w.err
}

func (s *spool) full(err error) error {
	return protocol.Errorf(protocol.CodeUnavailable, "unpack", "%w", err).WithHint("make room in %s, or store the files of the zip uncompressed (zip -0)", s.dir)
}

// take gives what is unpacked already.
func (s *spool) take(p *packed) body {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.body == nil {
		return nil
	}
	if p.place != nil {
		s.idle.Remove(p.place)
		p.place = nil
	}
	p.users++
	return p.body
}

// reserve makes room for an entry.
func (s *spool) reserve(p *packed) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return protocol.Errorf(protocol.CodeUnavailable, "unpack", "the zip is closed")
	}
	for s.used+p.size() > s.most && s.idle.Len() > 0 {
		s.drop(s.idle.Front().Value.(*packed)) // of this list
	}
	if s.used+p.size() > s.most || p.size() > s.most {
		return protocol.Errorf(protocol.CodeUnavailable, "unpack", "%d bytes of %s do not fit beside what is open, of %d bytes at most", p.size(), shown(p.f.Name), s.most).
			WithHint("store the files of the zip uncompressed (zip -0)")
	}
	p.held = p.size() <= heldBytes && s.held+p.size() <= heldTotal
	s.used += p.size()
	if p.held {
		s.held += p.size()
	}
	return nil
}

// give takes the room of an entry back.
func (s *spool) give(p *packed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free(p)
}

func (s *spool) free(p *packed) {
	s.used -= p.size()
	if p.held {
		s.held -= p.size()
	}
}

func (s *spool) put(p *packed, b body) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.body, p.users = b, 1
}

// release ends one use of an entry.
func (s *spool) release(p *packed) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.users--; p.users > 0 {
		return nil
	}
	p.place = s.idle.PushBack(p)
	if s.closed {
		return s.drop(p)
	}
	return nil
}

// drop gives up an idle entry.
func (s *spool) drop(p *packed) error {
	s.idle.Remove(p.place)
	b := p.body
	p.place, p.body = nil, nil
	s.free(p)
	if c, ok := b.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// close gives up what is idle, and the rest when it is.
func (s *spool) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var errs []error
	for s.idle.Len() > 0 {
		errs = append(errs, s.drop(s.idle.Front().Value.(*packed))) // of this list
	}
	return errors.Join(errs...)
}
