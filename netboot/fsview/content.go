package fsview

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"rackboot/protocol"
)

// Content is an open regular file. Its size, which Stat says, is what can be read of it;
// where a mount knows an entity tag, what Stat says has a method ETag. ReadAt may be called
// by many at a time; the rest is for one.
type Content interface {
	fs.File
	io.ReadSeeker
	io.ReaderAt
}

// Sectioner is what knows where its bytes lie as they are.
type Sectioner interface {
	// Section says that the content is size bytes of f from an offset on; ok is false
	// where it is in memory, compressed or in pieces. f stays open as long as what was
	// asked, and is shared: read it by ReadAt or by sendfile with an offset, and never
	// seek or close it.
	Section() (f *os.File, offset, size int64, ok bool)
}

// content is an open regular file of n bytes at r.
type content struct {
	r    *io.SectionReader
	info info
	path string
	from io.ReaderAt  // whose section it is
	done func() error // what Close does, once; may be nil

	closed atomic.Bool
}

func newContent(path string, i info, from io.ReaderAt, done func() error) *content {
	return &content{r: io.NewSectionReader(from, 0, i.size), info: i, path: path, from: from, done: done}
}

func (c *content) Stat() (fs.FileInfo, error) { return c.info, nil }

func (c *content) Read(b []byte) (int, error) {
	if c.closed.Load() {
		return 0, closed("read", c.path)
	}
	return c.r.Read(b)
}

func (c *content) ReadAt(b []byte, at int64) (int, error) {
	if c.closed.Load() {
		return 0, closed("read", c.path)
	}
	return c.r.ReadAt(b, at)
}

func (c *content) Seek(offset int64, whence int) (int64, error) {
	if c.closed.Load() {
		return 0, closed("seek", c.path)
	}
	return c.r.Seek(offset, whence)
}

func (c *content) Section() (f *os.File, offset, size int64, ok bool) {
	f, offset, length, ok := extent(c.from)
	if !ok || c.closed.Load() || length >= 0 && length < c.info.size {
		return nil, 0, 0, false
	}
	return f, offset, c.info.size, true
}

// Close does not wait for a Read: of a file that is still on its way, it ends one.
func (c *content) Close() error {
	if c.closed.Swap(true) {
		return closed("close", c.path)
	}
	if c.done != nil {
		return c.done()
	}
	return nil
}

// extent finds the file that a reader reads a section of, or that it says it is; length
// is -1 where it is the rest of the file.
func extent(r io.ReaderAt) (f *os.File, offset, length int64, ok bool) {
	switch r := r.(type) {
	case *os.File:
		return r, 0, -1, true
	case *io.SectionReader:
		outer, at, n := r.Outer()
		f, offset, length, ok := extent(outer)
		if !ok || length >= 0 && at+n > length {
			return nil, 0, 0, false
		}
		return f, offset + at, n, true
	case Sectioner:
		return r.Section()
	case interface{ OSFile() *os.File }:
		return r.OSFile(), 0, -1, true
	}
	return nil, 0, 0, false
}

// readerAt reads a file of another file system at any offset.
func readerAt(f fs.File) (io.ReaderAt, bool) {
	switch f := f.(type) {
	case io.ReaderAt:
		return f, true
	case io.ReadSeeker:
		return &seeking{r: f}, true
	}
	return nil, false
}

// seeking reads at any offset, for one at a time, by going there first.
type seeking struct {
	mu sync.Mutex
	r  io.ReadSeeker
}

func (s *seeking) ReadAt(b []byte, at int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.r.Seek(at, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(s.r, b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// unseekable is the error of a file that can be read once only.
func unseekable(name, origin string) error {
	return failure("open", name, protocol.Errorf(protocol.CodeInternal, "", "files of %s cannot be read at an offset", origin))
}
