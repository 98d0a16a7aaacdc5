package fsview

import (
	"io/fs"
	"path"
	"strings"
)

// folded finds names in any case.
type folded struct{ fs.FS }

// fold finds names of a file system in any case: each part as it is written where it is
// there, else the first in byte order that is equal without case. A directory is listed
// only where a name is not there as it is written.
func fold(fsys fs.FS) fs.FS { return folded{fsys} }

// Open is that of fs.FS.
func (f folded) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	if !gone(err) {
		return file, err
	}
	real, rerr := f.real("open", name)
	switch {
	case gone(rerr) && isDangling(err): // which says more
		return nil, err
	case rerr != nil:
		return nil, rerr
	}
	return f.FS.Open(real)
}

// Stat is that of fs.StatFS.
func (f folded) Stat(name string) (fs.FileInfo, error) {
	i, err := fs.Stat(f.FS, name)
	if !gone(err) {
		return i, err
	}
	real, err := f.real("stat", name)
	if err != nil {
		return nil, err
	}
	i, err = fs.Stat(f.FS, real)
	if err != nil {
		return nil, err
	}
	return shownAs(path.Base(name), i), nil
}

// real is the name as the file system has it.
func (f folded) real(op, name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	at := "."
	for part := range strings.SplitSeq(name, "/") {
		if _, err := fs.Stat(f.FS, join(at, part)); err == nil {
			at = join(at, part)
			continue
		} else if !gone(err) {
			return "", err
		}
		dir, err := fs.Stat(f.FS, at)
		if err != nil {
			return "", err
		}
		if !dir.IsDir() {
			return "", missing(op, name)
		}
		list, err := entries(f.FS, at)
		if err != nil {
			return "", err
		}
		best := ""
		for _, e := range list {
			if strings.EqualFold(e.Name(), part) && (best == "" || e.Name() < best) {
				best = e.Name()
			}
		}
		if best == "" {
			return "", missing(op, name)
		}
		at = join(at, best)
	}
	return at, nil
}
