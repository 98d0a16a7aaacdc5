package iso

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"rackboot/protocol"
)

// FS is the tree of files in an image, read in place: nothing is read before it is asked
// for, and of folders a bounded number is kept. It is safe for concurrent use.
//
// Names are those of Rock Ridge, else of Joliet, else plain ones; the latter two are found
// in any case of letters. Links are followed within the image, and never out of it.
//
// Regular files are io.ReaderAt and io.ReadSeeker, and have a method
//
//	Section() (f *os.File, offset, size int64, ok bool)
//
// that says where in the image they are, if that is an *os.File and the file in one piece.
//
// Errors are *fs.PathError over fs.ErrNotExist, fs.ErrInvalid (no path, or not of the kind
// that is asked for), an invalid error
// for an image that is damaged or ends too early, an unsupported one for a file that is
// not read, or the reader's own. A walk over all folders is not bounded here: a crafted
// image may show one folder under many names, up to 128 deep.
type FS struct {
	volume *volume
	cache  folders
}

var (
	_ fs.ReadDirFS  = (*FS)(nil)
	_ fs.StatFS     = (*FS)(nil)
	_ fs.ReadLinkFS = (*FS)(nil)
)

// OpenFS reads what kind of image it is, of so many bytes. The reader must serve several
// at once, and outlive the files. Errors: invalid for what is no ISO image or a damaged
// one, unsupported for raw CD sectors and for an image that is only UDF, or the reader's.
func OpenFS(r io.ReaderAt, size int64) (*FS, error) {
	v, err := openVolume(r, size)
	if err != nil {
		return nil, err
	}
	return &FS{volume: v}, nil
}

// Label is the volume's name, of the primary descriptor.
func (f *FS) Label() string { return f.volume.label }

// Open opens a file or a folder.
func (f *FS) Open(name string) (fs.File, error) {
	n, err := f.walk(name, true)
	if err != nil {
		return nil, failed("open", name, err)
	}
	about := info{n, path.Base(name)}
	if n.mode.IsDir() {
		return &dir{info: about, fs: f, path: name}, nil
	}
	pieces, err := f.volume.pieces(n)
	if err != nil {
		return nil, failed("open", name, err)
	}
	image, _ := f.volume.r.(*os.File)
	return newFile(about, f.volume.r, image, pieces), nil
}

// ReadDir lists a folder by name.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := f.list(name)
	if err != nil {
		return nil, failed("readdir", name, err)
	}
	return list, nil
}

func (f *FS) list(name string) ([]fs.DirEntry, error) {
	n, err := f.walk(name, true)
	if err != nil {
		return nil, err
	}
	if !n.mode.IsDir() {
		return nil, fmt.Errorf("not a folder: %w", fs.ErrInvalid)
	}
	d, err := f.folder(n)
	if err != nil {
		return nil, err
	}
	list := make([]fs.DirEntry, len(d.nodes))
	for i, n := range d.nodes {
		list[i] = fs.FileInfoToDirEntry(info{n, n.name})
	}
	return list, nil
}

// Stat describes what a path leads to.
func (f *FS) Stat(name string) (fs.FileInfo, error) { return f.about("stat", name, true) }

// Lstat describes what is at a path, also a link.
func (f *FS) Lstat(name string) (fs.FileInfo, error) { return f.about("lstat", name, false) }

func (f *FS) about(what, name string, follow bool) (fs.FileInfo, error) {
	n, err := f.walk(name, follow)
	if err != nil {
		return nil, failed(what, name, err)
	}
	return info{n, path.Base(name)}, nil
}

// ReadLink is the target of a link, as it is in the image.
func (f *FS) ReadLink(name string) (string, error) {
	n, err := f.walk(name, false)
	if err == nil && n.mode&fs.ModeSymlink == 0 {
		err = fs.ErrInvalid
	}
	if err != nil {
		return "", failed("readlink", name, err)
	}
	return n.link, nil
}

func failed(what, name string, err error) error {
	return &fs.PathError{Op: what, Path: name, Err: err}
}

func unsupported(format string, args ...any) error {
	return protocol.Errorf(protocol.CodeUnsupported, op, format, args...).
		WithHint("make the image again without it: xorriso -as mkisofs -iso-level 3 -R -J")
}
