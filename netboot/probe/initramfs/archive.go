package initramfs

import (
	"fmt"
	"io"
	"io/fs"
	"path"
)

const (
	modeDirectory = 0o040000
	modeRegular   = 0o100000
	trailer       = "TRAILER!!!"
)

// Archive writes an initramfs: a cpio archive in the "newc" form, which is the
// one that Linux reads (Documentation/driver-api/early-userspace/buffer-format).
type Archive struct {
	w     io.Writer
	inode int
	made  map[string]bool // folders
	err   error           // the first
}

// NewArchive begins an archive.
func NewArchive(w io.Writer) *Archive { return &Archive{w: w, made: map[string]bool{".": true}} }

// File adds a regular file and the folders above it. name has no leading slash.
func (a *Archive) File(name string, mode fs.FileMode, content []byte) {
	a.Folder(path.Dir(name))
	a.entry(name, modeRegular|uint32(mode.Perm()), content)
}

// Folder adds an empty folder and those above it.
func (a *Archive) Folder(name string) {
	if a.made[name] {
		return
	}
	a.made[name] = true
	a.Folder(path.Dir(name))
	a.entry(name, modeDirectory|0o755, nil)
}

// Close ends the archive and returns the first error of all.
func (a *Archive) Close() error {
	a.entry(trailer, 0, nil)
	return a.err
}

func (a *Archive) entry(name string, mode uint32, content []byte) {
	a.inode++
	// magic, ino, mode, uid, gid, nlink, mtime, filesize, devmajor, devminor,
	// rdevmajor, rdevminor, namesize with NUL, check
	header := fmt.Sprintf("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
		a.inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name)+1, 0)
	a.write([]byte(header + name + "\x00"))
	a.pad(len(header) + len(name) + 1)
	a.write(content)
	a.pad(len(content))
}

// pad fills up to a multiple of four.
func (a *Archive) pad(n int) { a.write(make([]byte, (4-n%4)%4)) }

func (a *Archive) write(b []byte) {
	if a.err == nil {
		_, a.err = a.w.Write(b)
	}
}
