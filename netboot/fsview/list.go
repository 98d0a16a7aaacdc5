package fsview

import (
	"cmp"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"rackboot/protocol"
)

// viewEntry is an entry of a merged directory.
type viewEntry struct {
	view *View
	path string
	name string
	kind fs.FileMode // the type's bits
}

func (e *viewEntry) Name() string      { return e.name }
func (e *viewEntry) IsDir() bool       { return e.kind.IsDir() }
func (e *viewEntry) Type() fs.FileMode { return e.kind }

func (e *viewEntry) Info() (fs.FileInfo, error) {
	if e.kind == fs.ModeSymlink {
		return info{name: e.name, mode: modeLink}, nil
	}
	return e.view.Stat(e.path)
}

// found is what one place has under a name of a directory.
type found struct {
	kind   fs.FileMode // 0, fs.ModeDir, or fs.ModeSymlink for a link to a directory
	origin string
}

func (f found) isDir() bool { return f.kind != 0 }

// list merges a directory. The topmost place says what an entry is; a link to a directory
// beside a directory is one.
func (v *View) list(name string) ([]fs.DirEntry, error) {
	all, err := v.children(name, false)
	if err != nil {
		return nil, err
	}
	if len(all) > maxEntries {
		return nil, failure("readdir", name, tooMany())
	}
	entries := make([]fs.DirEntry, 0, len(all))
	for child, have := range all {
		if badName(join(name, child)) != "" {
			continue // nobody could ask for it
		}
		kind := have[0].kind
		if kind == fs.ModeSymlink && slices.ContainsFunc(have, func(f found) bool { return f.kind == fs.ModeDir }) {
			kind = fs.ModeDir
		}
		entries = append(entries, &viewEntry{view: v, path: join(name, child), name: child, kind: kind})
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// children is what the places of a directory have in it, by name, each with the topmost
// first. With local, mounts that ask other machines are left out; else their errors are,
// where another place has the directory.
func (v *View) children(name string, local bool) (map[string][]found, error) {
	all := map[string][]found{}
	have := false
	var failed error
	for _, p := range v.places(name) {
		if !p.synthetic() && local && p.remote {
			continue
		}
		some, err := v.childrenOf(p, local)
		switch {
		case gone(err):
			continue
		case err != nil && p.remote:
			failed = cmp.Or(failed, judged("readdir", name, p.origin, err))
			continue
		case err != nil:
			return nil, judged("readdir", name, p.origin, err)
		}
		have = have || some != nil
		for child, f := range some {
			all[child] = append(all[child], f)
		}
	}
	if !have && failed != nil {
		return nil, failed
	}
	return all, nil
}

// childrenOf is what one place has; nil where it is no directory there.
func (v *View) childrenOf(p place, local bool) (map[string]found, error) {
	if p.synthetic() {
		child, _, deeper := strings.Cut(p.inside, "/")
		f := found{kind: fs.ModeDir, origin: p.origin}
		if !deeper && p.isLink() {
			i, _, err := v.stat(p.target, local)
			switch {
			case gone(err):
				return nil, nil
			case err != nil:
				return nil, err
			case !i.IsDir():
				f.kind = 0
			}
		}
		return map[string]found{child: f}, nil
	}
	fi, err := fs.Stat(p.fsys, p.name)
	if err != nil || !fi.IsDir() {
		return nil, err
	}
	some, err := entries(p.fsys, p.name)
	if err != nil {
		return nil, err
	}
	all := make(map[string]found, len(some))
	for _, e := range some {
		if badName(join(p.name, e.Name())) != "" {
			continue // nobody could ask for it
		}
		f := found{kind: e.Type(), origin: p.origin}
		switch e.Type() {
		case 0, fs.ModeDir:
		case fs.ModeSymlink:
			to, err := fs.Stat(p.fsys, join(p.name, e.Name()))
			if err != nil {
				continue // it leads nowhere
			}
			if !to.IsDir() {
				f.kind = 0
			}
		default:
			continue // a device is no file
		}
		all[e.Name()] = f
	}
	return all, nil
}

// maxChecked bounds how many entries of overlapping directories New looks at.
const maxChecked = 1 << 20

// check looks for files over directories wherever two mounts have the same directory, and
// for links that lead nowhere.
func (v *View) check() error {
	for i := range v.layers {
		l := &v.layers[i]
		if !l.isLink() {
			continue
		}
		_, skipped, err := v.stat(l.target, true)
		switch {
		case gone(err) && !skipped:
			return protocol.Errorf(protocol.CodeNotFound, "build view", "link %s of %s: there is no %s", l.at, l.origin, l.target).
				WithHint("mount what has it, or correct the link")
		case err != nil && !gone(err):
			return err
		}
	}
	seen := 0
	return v.checkDir(".", &seen)
}

func (v *View) checkDir(name string, seen *int) error {
	all, err := v.children(name, true)
	if err != nil {
		return err
	}
	if *seen += len(all); *seen > maxChecked {
		return protocol.Errorf(protocol.CodeUnsupported, "build view", "mounts have more than %d files in the same directories, the last in %s", maxChecked, name).
			WithHint("mount trees that large beside each other")
	}
	for _, child := range slices.Sorted(maps.Keys(all)) {
		have := all[child]
		if badName(join(name, child)) != "" {
			continue
		}
		for _, f := range have[1:] {
			if f.isDir() == have[0].isDir() {
				continue
			}
			file, dir := f, have[0]
			if f.isDir() {
				file, dir = have[0], f
			}
			return protocol.Errorf(protocol.CodeConflict, "build view", "%s is a file of %s and a directory of %s", join(name, child), file.origin, dir.origin).
				WithHint("rename one of them, or take it out")
		}
		// Where all of them have links, whoever walks stops there too.
		if len(have) > 1 && slices.ContainsFunc(have, func(f found) bool { return f.kind == fs.ModeDir }) {
			if err := v.checkDir(join(name, child), seen); err != nil {
				return err
			}
		}
	}
	return nil
}
