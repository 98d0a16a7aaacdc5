package mirror

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"

	"rackboot/protocol"
)

// partial is a file that is being fetched.
type partial struct {
	flight *flight
	info   info
	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	mu   sync.Mutex // of pos
	pos  int64
	side side
}

func newPartial(f *flight) *partial {
	p := &partial{flight: f, info: infoOf(f.asked.name, f.entry)}
	p.ctx, p.cancel = context.WithCancel(f.m.ctx)
	p.side.flight, p.side.ctx = f, p.ctx
	return p
}

// Stat describes the file as it will be.
func (p *partial) Stat() (fs.FileInfo, error) { return p.info, nil }

// ETag is a strong entity tag with its quotes, or empty.
func (p *partial) ETag() string { return p.info.tag }

// Read reads what there is at the present position, and waits if there is nothing.
func (p *partial) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n, err := p.at(b, p.pos, false)
	p.pos += int64(n)
	return n, err
}

// ReadAt reads from a position, and waits for all of it.
func (p *partial) ReadAt(b []byte, off int64) (int, error) { return p.at(b, off, true) }

// Seek moves the position; it reads nothing.
func (p *partial) Seek(offset int64, whence int) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += p.pos
	case io.SeekEnd:
		offset += p.info.size
	default:
		return 0, p.wrong("seek")
	}
	if offset < 0 {
		return 0, p.wrong("seek")
	}
	p.pos = offset
	return offset, nil
}

func (p *partial) wrong(op string) error {
	return &fs.PathError{Op: op, Path: p.info.name, Err: fs.ErrInvalid}
}

// Close gives the file up; the fetch goes on for the cache.
func (p *partial) Close() error {
	p.cancel()
	if !p.side.close() {
		return &fs.PathError{Op: "close", Path: p.info.name, Err: fs.ErrClosed}
	}
	p.flight.leave()
	return nil
}

// at reads from a position: all of b if full is set, else what there is.
func (p *partial) at(b []byte, off int64, full bool) (int, error) {
	switch {
	case p.side.closed.Load():
		return 0, &fs.PathError{Op: "read", Path: p.info.name, Err: fs.ErrClosed}
	case off < 0:
		return 0, p.wrong("read")
	case off >= p.info.size:
		return 0, io.EOF
	case len(b) == 0:
		return 0, nil
	}
	end := false
	if left := p.info.size - off; int64(len(b)) >= left {
		end, b = int64(len(b)) > left, b[:left]
	}
	n, err := p.some(b, off, full)
	if err == nil && end && full {
		err = io.EOF
	}
	return n, err
}

// some reads from what has arrived, or past it. The range is within the file.
func (p *partial) some(b []byte, off int64, full bool) (int, error) {
	need := off + 1
	if full {
		need = off + int64(len(b))
	}
	for {
		switch err := p.flight.wait(p.ctx, need); {
		case err == nil:
			return p.read(b, off)
		case !errors.Is(err, errFar):
			return 0, err
		}
		n, err := p.side.read(b, off, full)
		if !errors.Is(err, errNoRange) {
			return n, err
		}
		// From now on it waits like for anything.
	}
}

// read reads bytes of which the first has arrived.
func (p *partial) read(b []byte, off int64) (int, error) {
	arrived := p.flight.arrival.now().bytes
	p.side.overtaken(arrived)
	b = b[:min(int64(len(b)), arrived-off)]
	n, err := p.flight.draft.ReadAt(b, off)
	if n < len(b) {
		return n, protocol.Errorf(protocol.CodeInternal, "read", "the mirror's cache: %w", err)
	}
	return n, nil
}

var (
	errFar     = errors.New("far from what has arrived")
	errNoRange = errors.New("the other side gives no ranges")
)
