package files

import (
	"io"
	"io/fs"
	"maps"
	"slices"
)

// imageFolder lists the files of an image.
type imageFolder struct {
	files imageFiles
	read  int
}

// Stat implements fs.File.
func (d *imageFolder) Stat() (fs.FileInfo, error) { return imageInfo{name: ".", folder: true}, nil }

// Read implements fs.File: a folder has no content.
func (d *imageFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: ".", Err: fs.ErrInvalid}
}

// Close implements fs.File.
func (d *imageFolder) Close() error { return nil }

// ReadDir implements fs.ReadDirFile.
func (d *imageFolder) ReadDir(n int) (out []fs.DirEntry, err error) {
	names := slices.Sorted(maps.Keys(d.files.byName))[d.read:]
	if n > 0 && len(names) == 0 {
		return nil, io.EOF
	}
	if n > 0 && n < len(names) {
		names = names[:n]
	}
	for _, name := range names {
		out = append(out, imageInfo{name, d.files.byName[name].Size, false})
	}
	d.read += len(names)
	return out, nil
}
