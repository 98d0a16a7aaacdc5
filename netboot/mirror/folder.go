package mirror

import (
	"errors"
	"io/fs"
	"path"
	"time"

	"rackboot/protocol"
)

// folder is a folder of a tree. Nobody knows what is in it.
type folder struct{ name string }

func unlisted(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: protocol.Errorf(protocol.CodeUnsupported, op, "%w", ErrFolder).
		WithHint("name the files; only an ISO or an image can be listed")}
}

// Stat describes the folder.
func (f *folder) Stat() (fs.FileInfo, error) { return f, nil }

// Read fails: a folder has no content.
func (f *folder) Read([]byte) (int, error) { return 0, unlisted("read", f.name) }

// ReadDir fails with ErrFolder.
func (f *folder) ReadDir(int) ([]fs.DirEntry, error) { return nil, unlisted("readdir", f.name) }

// Close does nothing.
func (f *folder) Close() error { return nil }

// Name is the folder's own.
func (f *folder) Name() string { return path.Base(f.name) }

// Size is 0.
func (f *folder) Size() int64 { return 0 }

// Mode is that of a folder.
func (f *folder) Mode() fs.FileMode { return fs.ModeDir | 0o555 }

// ModTime is unknown.
func (f *folder) ModTime() time.Time { return time.Time{} }

// IsDir is true.
func (f *folder) IsDir() bool { return true }

// Sys is nil.
func (f *folder) Sys() any { return nil }

// ErrFolder is that a name is a folder of the tree: it has no content, and HTTP has no
// listing of it.
var ErrFolder = errors.New("a folder behind HTTP has no listing")

// errFolder is that a URL is a folder's.
var errFolder = errors.New("it is a folder")
