package fsview

import (
	"io/fs"
	"time"
)

// Modes of what is shown: everything is read-only, whatever its source says.
const (
	modeFile = fs.FileMode(0o444)
	modeDir  = fs.ModeDir | 0o555
	modeLink = fs.ModeSymlink | 0o777 // to a directory
)

// info is what is known of a file or directory without opening it. Directories have no
// size.
type info struct {
	name    string // the last part
	size    int64  // bytes
	mode    fs.FileMode
	modTime time.Time
	tag     string // entity tag, with its quotes (RFC 9110 section 8.8.3); mostly empty
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.modTime }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }
func (i info) ETag() string       { return i.tag }

// shownAs is another file system's word on a file, in the form of ours and by another
// name.
func shownAs(name string, fi fs.FileInfo) info {
	if fi.IsDir() {
		return info{name: name, mode: modeDir, modTime: fi.ModTime()}
	}
	i := info{name: name, size: fi.Size(), mode: modeFile, modTime: fi.ModTime()}
	if tagged, ok := fi.(interface{ ETag() string }); ok {
		i.tag = tagged.ETag()
	}
	return i
}
