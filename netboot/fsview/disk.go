package fsview

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"rackboot/protocol"
)

// disk is a folder. What people do in it is seen at once.
type disk struct {
	root *os.Root
	dir  string
}

// Disk is a folder on disk as a file system, which has a Close method. Symbolic links are
// followed inside the folder and never out of it, whatever changes meanwhile (os.Root);
// what is neither file nor directory is not shown and not opened. A folder that is not
// there is a not_found error.
func Disk(dir string) (fs.FS, error) {
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, protocol.Errorf(protocol.CodeNotFound, "open folder", "%w", err).WithHint("make %s, or name another folder", dir)
	case err != nil:
		return nil, protocol.Errorf(protocol.CodeUnavailable, "open folder", "%w", err).WithHint("%s must be a folder that the agent may read", dir)
	}
	return &disk{root: root, dir: dir}, nil
}

// Close gives the folder up. Open files stay open.
func (d *disk) Close() error { return d.root.Close() }

// Open is that of fs.FS.
func (d *disk) Open(name string) (fs.File, error) {
	f, fi, err := d.open("open", name)
	if err != nil {
		return nil, err
	}
	shows := shownAs(path.Base(name), fi)
	if fi.IsDir() {
		return &openDir{info: shows, path: name, read: func() ([]fs.DirEntry, error) { return d.list(f, name) }, done: f.Close}, nil
	}
	return newContent(name, shows, f, f.Close), nil
}

// open opens without waiting: a FIFO would wait for a writer.
func (d *disk) open(op, name string) (*os.File, fs.FileInfo, error) {
	if err := checkName(name); err != nil {
		return nil, nil, err
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, d.refused(op, name, err)
	}
	fi, err := f.Stat()
	if err == nil && !fi.IsDir() && !fi.Mode().IsRegular() {
		err = errIrregular
	}
	if err != nil {
		f.Close()
		return nil, nil, d.refused(op, name, err)
	}
	return f, fi, nil
}

// Stat is that of fs.StatFS.
func (d *disk) Stat(name string) (fs.FileInfo, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	fi, err := d.root.Stat(name)
	if err == nil && !fi.IsDir() && !fi.Mode().IsRegular() {
		err = errIrregular
	}
	if err != nil {
		return nil, d.refused("stat", name, err)
	}
	return shownAs(path.Base(name), fi), nil
}

var (
	errIrregular = errors.New("neither a file nor a directory")
	errCount     = errors.New("too many entries")
)

// list has what can be opened of a directory.
func (d *disk) list(f *os.File, name string) ([]fs.DirEntry, error) {
	found, err := f.ReadDir(maxEntries + 1)
	if len(found) > maxEntries {
		err = errCount
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, d.refused("readdir", name, err)
	}
	var all []fs.DirEntry
	for _, e := range found {
		if badName(e.Name()) != "" {
			continue // nobody could ask for it
		}
		shows, err := d.Stat(join(name, e.Name()))
		if err != nil {
			continue // gone meanwhile, leads nowhere or out, or no file
		}
		i := shownAs(e.Name(), shows)
		if e.Type()&fs.ModeSymlink != 0 && i.IsDir() {
			i.mode = modeLink
		}
		all = append(all, fs.FileInfoToDirEntry(i))
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

// links is what a symbolic link says; empty for what is none.
func (d *disk) links(name string) string {
	target, err := d.root.Readlink(name)
	if err != nil {
		return ""
	}
	return target
}

// refused gives an error of the disk its code. os.Root has no error of its own for a path
// that leads out, which is told by leaving the others out.
func (d *disk) refused(op, name string, err error) error {
	var number syscall.Errno
	switch {
	case errors.Is(err, errCount):
		return failure(op, name, tooMany())
	case errors.Is(err, fs.ErrNotExist) && d.links(name) != "":
		return dangling(op, name, name, d.links(name))
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENXIO):
		return missing(op, name)
	case errors.Is(err, fs.ErrClosed):
		return closed(op, name)
	case errors.Is(err, errIrregular):
		return failure(op, name, protocol.Errorf(protocol.CodeDenied, "", "%w", err).WithHint("%s has a device, FIFO or socket there; replace it with a file", d.dir))
	case errors.Is(err, syscall.ELOOP):
		return failure(op, name, protocol.Errorf(protocol.CodeInvalid, "", "its symbolic links go in circles").WithHint("correct the links in %s", d.dir))
	case errors.Is(err, fs.ErrPermission):
		return failure(op, name, protocol.Errorf(protocol.CodeDenied, "", "%w", fs.ErrPermission).WithHint("let the agent's user read it in %s", d.dir))
	case errors.As(err, &number):
		return failure(op, name, protocol.Errorf(protocol.CodeUnavailable, "", "%w", number).WithHint("look at the disk of %s", d.dir))
	}
	return failure(op, name, protocol.Errorf(protocol.CodeDenied, "", "it leads out of the folder").WithHint("copy the file into %s: symbolic links are followed inside it only", d.dir))
}
