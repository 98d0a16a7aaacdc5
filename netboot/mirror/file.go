package mirror

import (
	"io/fs"
	"os"
	"path"
	"sync"
	"time"
)

// info describes a file.
type info struct {
	name string
	size int64
	mod  time.Time
	tag  string
}

func infoOf(name string, e entry) info { return info{path.Base(name), e.Size, e.Modified, e.tag()} }

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return 0o444 }
func (i info) ModTime() time.Time { return i.mod }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }

// ETag is a strong entity tag with its quotes, or empty.
func (i info) ETag() string { return i.tag }

// whole is a file that is in the cache.
type whole struct {
	file *os.File
	info info
	once sync.Once
	done func()
}

// Stat describes the file.
func (w *whole) Stat() (fs.FileInfo, error) { return w.info, nil }

// Read reads from the present position.
func (w *whole) Read(p []byte) (int, error) { return w.file.Read(p) }

// ReadAt reads from a position.
func (w *whole) ReadAt(p []byte, off int64) (int, error) { return w.file.ReadAt(p, off) }

// Seek moves the position.
func (w *whole) Seek(offset int64, whence int) (int64, error) { return w.file.Seek(offset, whence) }

// ETag is a strong entity tag with its quotes.
func (w *whole) ETag() string { return w.info.tag }

// OSFile is the file itself, so that a server can send it by sendfile. It is closed with
// the whole.
func (w *whole) OSFile() *os.File { return w.file }

// Close closes the file.
func (w *whole) Close() error {
	err := w.file.Close()
	w.once.Do(w.done)
	return err
}
