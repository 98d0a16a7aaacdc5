package fsview

import (
	"errors"
	"io"
	"io/fs"
	"sync"

	"rackboot/protocol"
)

// maxEntries bounds how many entries a directory may have to be listed. The largest
// directories of distributions' images have some thousands; names are found in larger
// ones too where that needs no list.
const maxEntries = 1 << 16

// openDir is an open directory. It is read when somebody asks for its entries, and as a
// whole, so that one reader sees one state of it.
type openDir struct {
	info info
	path string
	read func() ([]fs.DirEntry, error)
	done func() error // what Close does, once; may be nil

	mu     sync.Mutex
	list   []fs.DirEntry
	listed bool
	at     int
	closed bool
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.info, nil }

func (d *openDir) Read([]byte) (int, error) {
	return 0, failure("read", d.path, protocol.Errorf(protocol.CodeInvalid, "", "is a directory: %w", fs.ErrInvalid))
}

func (d *openDir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return closed("close", d.path)
	}
	d.closed = true
	if d.done != nil {
		return d.done()
	}
	return nil
}

// ReadDir is that of fs.ReadDirFile; entries come sorted.
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, closed("readdir", d.path)
	}
	if !d.listed {
		list, err := d.read()
		if err != nil {
			return nil, err
		}
		d.list, d.listed = list, true
	}
	rest := d.list[d.at:]
	if n > 0 {
		if len(rest) == 0 {
			return nil, io.EOF
		}
		rest = rest[:min(n, len(rest))]
	}
	d.at += len(rest)
	out := make([]fs.DirEntry, len(rest))
	copy(out, rest)
	return out, nil
}

// entries lists a directory of any file system, up to the bound.
func entries(fsys fs.FS, name string) ([]fs.DirEntry, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	dir, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, failure("readdir", name, protocol.Errorf(protocol.CodeUnsupported, "", "it has no list: %w", fs.ErrInvalid))
	}
	var all []fs.DirEntry
	for {
		some, err := dir.ReadDir(1024)
		all = append(all, some...)
		switch {
		case len(all) > maxEntries:
			return nil, failure("readdir", name, tooMany())
		case errors.Is(err, io.EOF), err == nil && len(some) == 0:
			return all, nil
		case err != nil:
			return nil, err
		}
	}
}

func tooMany() *protocol.Error {
	return protocol.Errorf(protocol.CodeUnsupported, "", "the directory has more than %d entries", maxEntries).
		WithHint("divide it into several; its files can be fetched by name meanwhile")
}
