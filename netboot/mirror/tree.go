package mirror

import (
	"errors"
	"io/fs"
	"net/url"
)

// tree is a tree of files behind HTTP.
type tree struct {
	m    *Mirror
	site *site
	url  *url.URL
}

// FS is a tree as a file system. Its base is the URL of one of Config.Bases, or below
// it. Files that it opens are io.ReadSeeker and io.ReaderAt, have their size and time of
// change from the first, and an ETag() string; one that is wholly in the cache has an
// OSFile() *os.File. Opening waits for the other side within Config.Wait, and within
// Config.Patience where there is an older version. Folders cannot be listed: ErrFolder.
//
// Errors: of FS, invalid and denied; of the files, as *fs.PathError, not_found
// (fs.ErrNotExist), invalid (fs.ErrInvalid), unsupported (ErrFolder), denied,
// unavailable, timeout, and conflict where a file was changed while it was read.
func (m *Mirror) FS(base string) (fs.FS, error) {
	s, u, err := m.site("open a mirror", base)
	if err != nil {
		return nil, err
	}
	return &tree{m, s, u}, nil
}

// check refuses names that are not clean.
func check(op, name string) error {
	if err := checkName(name); err != nil {
		return &fs.PathError{Op: op, Path: name, Err: errors.Join(fs.ErrInvalid, err)}
	}
	return nil
}

// Open opens a file.
func (t *tree) Open(name string) (fs.File, error) {
	if err := check("open", name); err != nil {
		return nil, err
	}
	if name == "." {
		return &folder{name: name}, nil
	}
	f, err := t.m.open(t.m.ctx, t.site, under(t.url, name), name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f, nil
}

// Stat describes a file without fetching it.
func (t *tree) Stat(name string) (fs.FileInfo, error) {
	if err := check("stat", name); err != nil {
		return nil, err
	}
	if name == "." {
		return &folder{name: name}, nil
	}
	fi, err := t.m.stat(t.m.ctx, t.site, under(t.url, name), name)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return fi, nil
}

// ReadDir fails with ErrFolder.
func (t *tree) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := check("readdir", name); err != nil {
		return nil, err
	}
	return nil, unlisted("readdir", name)
}
