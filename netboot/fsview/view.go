package fsview

import (
	"io/fs"
	"path"
	"slices"
	"sync/atomic"

	"rackboot/protocol"
)

// View is the files of one server: mounts over mounts. It is an fs.FS with ReadDir and
// Stat, and never changes, though what lies in a mounted folder or behind a proxy may.
//
// It belongs to whoever made it, until Release; an open file keeps it too.
type View struct {
	layers []layer // the last lies over all
	close  []func() error
	users  atomic.Int64
}

// New makes a view of mounts, the later ones over the earlier ones. Directories merge; a
// file over a directory, or the other way round, is a conflict error that names both
// origins, where New can see it: not in Remote mounts, and not what comes into a folder
// later, where the later mount wins. Links that lead nowhere are not_found, and those
// that lead in circles, and bad names, invalid. After an error the mounts are still the
// caller's.
func New(mounts []Mount) (*View, error) {
	v := &View{}
	for _, m := range mounts {
		layers, err := m.layers()
		if err != nil {
			return nil, err
		}
		v.layers = append(v.layers, layers...)
		if m.Close != nil {
			v.close = append(v.close, m.Close)
		}
	}
	if err := checkLinks(v.layers); err != nil {
		return nil, err
	}
	v.users.Store(1)
	if err := v.check(); err != nil {
		return nil, err
	}
	return v, nil
}

// Acquire keeps the view's mounts open until Release. It is false once they are closed.
func (v *View) Acquire() bool {
	for {
		n := v.users.Load()
		if n <= 0 {
			return false
		}
		if v.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release ends what New or Acquire began. The last one closes the mounts.
func (v *View) Release() {
	if v.users.Add(-1) != 0 {
		return
	}
	for _, done := range slices.Backward(v.close) {
		_ = done() // it was read only
	}
}

// Open is that of fs.FS. Regular files are a Content and a Sectioner, and stay open when
// the view is released. A view whose mounts are closed is an unavailable error; an error
// of a mount is returned, and what lies under that mount not shown in its place.
func (v *View) Open(name string) (fs.File, error) {
	if err := v.enter("open", name); err != nil {
		return nil, err
	}
	f, err := v.open(name)
	if err != nil {
		v.Release()
	}
	return f, err
}

// open opens a file that takes the caller's hold on the view over.
func (v *View) open(name string) (fs.File, error) {
	done := func() error {
		v.Release()
		return nil
	}
	var leads error // nowhere
	for _, p := range v.places(name) {
		if p.synthetic() {
			return v.dir(name, info{name: path.Base(name), mode: modeDir}, done), nil
		}
		f, err := p.fsys.Open(p.name)
		if gone(err) {
			if leads == nil && isDangling(err) {
				leads = judged("open", name, p.origin, err)
			}
			continue
		}
		if err != nil {
			return nil, judged("open", name, p.origin, err)
		}
		fi, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, judged("open", name, p.origin, err)
		}
		shows := shownAs(path.Base(name), fi)
		if fi.IsDir() {
			f.Close()
			return v.dir(name, shows, done), nil
		}
		r, ok := readerAt(f)
		if !ok {
			f.Close()
			return nil, unseekable(name, p.origin)
		}
		return newContent(name, shows, r, func() error {
			defer v.Release()
			return f.Close()
		}), nil
	}
	if leads != nil {
		return nil, leads
	}
	return nil, missing("open", name)
}

func (v *View) dir(name string, shows info, done func() error) *openDir {
	return &openDir{info: shows, path: name, read: func() ([]fs.DirEntry, error) { return v.list(name) }, done: done}
}

// Stat is that of fs.StatFS.
func (v *View) Stat(name string) (fs.FileInfo, error) {
	if err := v.enter("stat", name); err != nil {
		return nil, err
	}
	defer v.Release()
	i, _, err := v.stat(name, false)
	return i, err
}

// stat asks the topmost mount that has a name. With local, those that ask other machines
// are left out, and skipped says whether there were any.
func (v *View) stat(name string, local bool) (i info, skipped bool, err error) {
	for _, p := range v.places(name) {
		if p.synthetic() {
			return info{name: path.Base(name), mode: modeDir}, skipped, nil
		}
		if local && p.remote {
			skipped = true
			continue
		}
		fi, err := fs.Stat(p.fsys, p.name)
		switch {
		case gone(err):
		case err != nil:
			return info{}, skipped, judged("stat", name, p.origin, err)
		default:
			return shownAs(path.Base(name), fi), skipped, nil
		}
	}
	return info{}, skipped, missing("stat", name)
}

// ReadDir is that of fs.ReadDirFS. Info of its entries asks the view, while that is open.
func (v *View) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := v.enter("readdir", name); err != nil {
		return nil, err
	}
	defer v.Release()
	i, _, err := v.stat(name, false)
	switch {
	case err != nil:
		return nil, err
	case !i.IsDir():
		return nil, failure("readdir", name, protocol.Errorf(protocol.CodeInvalid, "", "not a directory: %w", fs.ErrInvalid))
	}
	return v.list(name)
}

// enter checks a name and holds the view for a call.
func (v *View) enter(op, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if !v.Acquire() {
		return closed(op, name)
	}
	return nil
}
