package mirror

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"rackboot/protocol"
)

// Set is what is pinned under a name: an fs.FS with these files and nothing else, which
// asks nobody. Its files are io.ReadSeeker and io.ReaderAt, with ETag and OSFile as those
// of [Mirror.FS]. It is safe for concurrent use.
type Set struct {
	store *store
	pin   pin
	dirs  map[string][]fs.DirEntry // by path, sorted
}

// Pinned is what is pinned under a name. Errors: not_found, also where a file of it was
// lost from the disk.
func (m *Mirror) Pinned(name string) (*Set, error) {
	const op = "open a pin"
	p, whole, ok := m.store.pinned(name)
	switch {
	case !ok:
		return nil, protocol.Errorf(protocol.CodeNotFound, op, "nothing is pinned as %q", name).WithHint("fetch it")
	case !whole:
		return nil, lost(op, m.store.dir)
	}
	return newSet(m.store, p), nil
}

// Unpin gives a pin up; one that is not there is no error. What else is known of its
// files stays as long as there is room.
func (m *Mirror) Unpin(name string) { m.store.unpin(name) }

// Pins are the names of the pins, sorted.
func (m *Mirror) Pins() []string {
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	var out []string
	for name := range m.store.pins {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func newSet(s *store, p pin) *Set {
	out := &Set{s, p, map[string][]fs.DirEntry{".": {}}}
	for _, f := range p.Files {
		d := fs.FileInfoToDirEntry(f.info())
		for at := f.Name; ; {
			dir := path.Dir(at)
			_, known := out.dirs[dir]
			out.dirs[dir] = append(out.dirs[dir], d)
			if known {
				break
			}
			at, d = dir, fs.FileInfoToDirEntry(&folder{name: dir})
		}
	}
	for _, list := range out.dirs {
		slices.SortFunc(list, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	}
	return out
}

func (f File) info() info {
	return info{path.Base(f.Name), f.Size, f.ModTime, f.ETag}
}

// Files are the files, sorted by name.
func (s *Set) Files() []File { return slices.Clone(s.pin.Files) }

// Base is the tree's URL.
func (s *Set) Base() string { return s.pin.Base }

// Verify reads each file of the set that was not hashed since the start, and compares. A
// damaged one is removed. Errors: invalid (damaged), not_found (lost), timeout, internal.
func (s *Set) Verify(ctx context.Context) error {
	for _, f := range s.pin.Files {
		if err := s.store.verify(ctx, f.SHA256); err != nil {
			return err
		}
	}
	return nil
}

// find is a file of the set.
func (s *Set) find(name string) (File, bool) {
	i, ok := slices.BinarySearchFunc(s.pin.Files, name, func(f File, name string) int { return strings.Compare(f.Name, name) })
	if !ok {
		return File{}, false
	}
	return s.pin.Files[i], true
}

// Open opens a file or a folder of the set.
func (s *Set) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if list, ok := s.dirs[name]; ok {
		return &listedFolder{folder{name: name}, list}, nil
	}
	f, ok := s.find(name)
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	file, done, err := s.store.open(f.SHA256)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &whole{file: file, info: f.info(), done: done}, nil
}

// listedFolder is a folder of a set.
type listedFolder struct {
	folder
	rest []fs.DirEntry
}

// ReadDir lists the folder.
func (d *listedFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(d.rest)
	} else if len(d.rest) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.rest))
	out := d.rest[:n]
	d.rest = d.rest[n:]
	return slices.Clone(out), nil
}
