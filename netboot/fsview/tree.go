package fsview

import (
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"rackboot/protocol"
)

// maxFollowed is how many symbolic links the way to one file may have, as for Linux.
const maxFollowed = 40

// source is where the content of a node is.
type source interface {
	// open gives the content as long as done was not called; done may be nil.
	open() (r io.ReaderAt, done func() error, err error)
}

// node is a file, directory or symbolic link of a tree.
type node struct {
	info     info
	up       *node            // the root's is nil
	children map[string]*node // of a directory
	target   string           // of a symbolic link
	source   source           // of a file
}

// tree is a file system that is known from the beginning, and whose contents are
// elsewhere. It is not changed once it serves.
type tree struct {
	root *node
	what string // for errors: archive x.zip
}

func newTree(what string, modTime time.Time) *tree {
	return &tree{what: what, root: &node{info: info{name: ".", mode: modeDir, modTime: modTime}, children: map[string]*node{}}}
}

// add puts a node at a clean path, makes the directories above it, and returns what was
// there before. A directory that is there stays, with the time of the new one. A file
// where a directory is, or the other way round, is a conflict.
func (t *tree) add(name string, n *node) (before *node, err error) {
	dir := t.root
	parts := strings.Split(name, "/")
	for i, part := range parts[:len(parts)-1] {
		next := dir.children[part]
		switch {
		case next == nil:
			next = &node{info: info{name: part, mode: modeDir, modTime: t.root.info.modTime}, up: dir, children: map[string]*node{}}
			dir.children[part] = next
		case next.children == nil:
			return nil, t.clash(path.Join(parts[:i+1]...), name)
		}
		dir = next
	}
	n.info.name, n.up = parts[len(parts)-1], dir
	if name == "." {
		t.root.info.modTime = n.info.modTime
		return t.root, nil
	}
	before = dir.children[n.info.name]
	switch {
	case before == nil:
	case (before.children == nil) != (n.children == nil):
		return before, t.clash(name, name)
	case n.children != nil:
		before.info.modTime = n.info.modTime
		return before, nil
	}
	dir.children[n.info.name] = n
	return before, nil
}

func (t *tree) clash(file, name string) *protocol.Error {
	return broken("read "+t.what, "it has %s as a file and as a directory of %s", "make it anew without one of them", shown(file), shown(name))
}

// find goes to a clean name, through symbolic links.
func (t *tree) find(op, name string) (*node, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	at, followed := t.root, 0
	var link *node // the last one that was followed
	absent := func() error {
		if link == nil {
			return missing(op, name)
		}
		return dangling(op, name, link.path(), link.target)
	}
	way := strings.Split(name, "/")
	for len(way) > 0 {
		part := way[0]
		way = way[1:]
		switch {
		case at.children == nil:
			return nil, absent()
		case part == "." || part == "":
			continue
		case part == "..": // only targets have it
			if at.up == nil {
				return nil, failure(op, name, protocol.Errorf(protocol.CodeNotFound, "", "a symbolic link leads out of %s: %w", t.what, fs.ErrNotExist))
			}
			at = at.up
			continue
		}
		next := at.children[part]
		switch {
		case next == nil:
			return nil, absent()
		case next.target == "":
			at = next
			continue
		}
		if followed++; followed > maxFollowed {
			return nil, failure(op, name, protocol.Errorf(protocol.CodeInvalid, "", "more than %d symbolic links follow each other in %s, and then %s to %s", maxFollowed, t.what, shown(next.path()), shown(next.target)))
		}
		link = next
		if next.target[0] == '/' {
			return nil, failure(op, name, protocol.Errorf(protocol.CodeNotFound, "", "a symbolic link of %s leads to an absolute path: %w", t.what, fs.ErrNotExist))
		}
		way = slices.Concat(strings.Split(next.target, "/"), way)
	}
	return at, nil
}

// Open is that of fs.FS.
func (t *tree) Open(name string) (fs.File, error) {
	n, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	shows := n.info
	shows.name = path.Base(name)
	if n.children != nil {
		return &openDir{info: shows, path: name, read: func() ([]fs.DirEntry, error) { return t.list(n) }}, nil
	}
	r, done, err := n.source.open()
	if err != nil {
		return nil, judged("open", name, t.what, err)
	}
	return newContent(name, shows, r, done), nil
}

// Stat is that of fs.StatFS; no content is unpacked for it.
func (t *tree) Stat(name string) (fs.FileInfo, error) {
	n, err := t.find("stat", name)
	if err != nil {
		return nil, err
	}
	shows := n.info
	shows.name = path.Base(name)
	return shows, nil
}

// ReadDir is that of fs.ReadDirFS.
func (t *tree) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := t.find("readdir", name)
	switch {
	case err != nil:
		return nil, err
	case n.children == nil:
		return nil, failure("readdir", name, protocol.Errorf(protocol.CodeInvalid, "", "not a directory: %w", fs.ErrInvalid))
	}
	return t.list(n)
}

// list has the entries of a directory. What a symbolic link leads to is shown in its
// place if it is a file; links that lead nowhere are left out.
func (t *tree) list(dir *node) ([]fs.DirEntry, error) {
	if len(dir.children) > maxEntries {
		return nil, failure("readdir", dir.path(), tooMany())
	}
	all := make([]fs.DirEntry, 0, len(dir.children))
	for _, name := range slices.Sorted(maps.Keys(dir.children)) {
		n := dir.children[name]
		shows := n.info
		if n.target != "" {
			to, err := t.find("stat", join(dir.path(), name))
			if err != nil {
				continue
			}
			if shows = to.info; to.children != nil {
				shows.mode = modeLink
			}
			shows.name = name
		}
		all = append(all, fs.FileInfoToDirEntry(shows))
	}
	return all, nil
}

// path is where a node is.
func (n *node) path() string {
	if n.up == nil {
		return "."
	}
	return join(n.up.path(), n.info.name)
}
