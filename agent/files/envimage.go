package files

import (
	"io/fs"
	"os"
	"path"
	"time"

	"rackboot/netboot/chain"
	"rackboot/protocol"
	"rackboot/protocol/resource"
	"rackboot/state/blob"
)

// imageFiles are the artefacts of an OCI image under the names that a boot gives them, in
// one folder. The blobs are local and pinned.
type imageFiles struct {
	blobs  *blob.Store
	byName map[string]resource.Artefact
}

var artefactNames = map[resource.ArtefactKind]string{
	resource.ArtefactUKI: chain.FileUKI, resource.ArtefactKernel: chain.FileKernel, resource.ArtefactInitramfs: chain.FileInitramfs,
	resource.ArtefactSquashfs: chain.FileSquashfs, resource.ArtefactISO: protocol.FileISO,
}

func newImageFiles(blobs *blob.Store, image resource.Image) imageFiles {
	f := imageFiles{blobs, map[string]resource.Artefact{}}
	for _, a := range image.Artefacts {
		if name := artefactNames[a.Kind]; name != "" {
			f.byName[name] = a
		}
	}
	return f
}

// Open implements fs.FS.
func (f imageFiles) Open(name string) (fs.File, error) {
	if name == "." {
		return &imageFolder{files: f}, nil
	}
	a, ok := f.byName[name]
	if !ok || !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	content, _, err := f.blobs.Open(a.Digest)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return imageFile{content, imageInfo{name, a.Size, false}}, nil
}

// imageFile is the blob itself, so that it is sent without a copy.
type imageFile struct {
	*os.File
	info imageInfo
}

// Stat implements fs.File.
func (f imageFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// Section implements what sends it without a copy.
func (f imageFile) Section() (file *os.File, offset, size int64, ok bool) {
	return f.File, 0, f.info.size, true
}

// imageInfo is what is known of a file.
type imageInfo struct {
	name   string
	size   int64
	folder bool
}

// Name and the others implement fs.FileInfo and fs.DirEntry.
func (i imageInfo) Name() string { return path.Base(i.name) }

// Size is in bytes.
func (i imageInfo) Size() int64 { return i.size }

// Mode is read-only.
func (i imageInfo) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// ModTime is the same always: what has a digest does not change.
func (i imageInfo) ModTime() time.Time { return time.Unix(0, 0) }

// IsDir says whether it is the folder.
func (i imageInfo) IsDir() bool { return i.folder }

// Sys is nil.
func (i imageInfo) Sys() any { return nil }

// Type implements fs.DirEntry.
func (i imageInfo) Type() fs.FileMode { return i.Mode().Type() }

// Info implements fs.DirEntry.
func (i imageInfo) Info() (fs.FileInfo, error) { return i, nil }
