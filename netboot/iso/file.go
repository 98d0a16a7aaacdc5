package iso

import (
	"io"
	"io/fs"
	"os"
	"sort"
	"time"
)

// piece is a part of a file that is in one piece: where in the file it begins, where in
// the image, and its bytes.
type piece struct {
	from, at, size int64
}

// pieces are those of a regular file, or why it cannot be read.
func (v *volume) pieces(n node) ([]piece, error) {
	switch {
	case !n.mode.IsRegular():
		return nil, unsupported("%q is a device, a pipe or a socket", n.name)
	case n.fault&packed != 0:
		return nil, unsupported("the file %q is compressed, by zisofs", n.name)
	case n.fault&sparse != 0:
		return nil, unsupported("the file %q is sparse", n.name)
	case n.fault&interleaved != 0:
		return nil, unsupported("the file %q is interleaved with others", n.name)
	case n.fault&cut != 0:
		return nil, wrong("the last section of the file %q is missing", n.name)
	}
	var out []piece
	from := int64(0)
	for i := range 1 + len(n.more) {
		e := n.first
		if i > 0 {
			e = n.more[i-1]
		}
		p := piece{from, int64(e.at) * v.block, int64(e.size)}
		from += p.size
		switch last := len(out) - 1; {
		case p.size == 0:
		case last >= 0 && out[last].at+out[last].size == p.at:
			out[last].size += p.size
		default:
			out = append(out, p)
		}
	}
	for _, p := range out {
		if p.at+p.size > v.size {
			return nil, v.ends(p.at + p.size)
		}
	}
	return out, nil
}

// scattered reads a file of several pieces.
type scattered struct {
	r      io.ReaderAt
	pieces []piece
}

// ReadAt reads across pieces.
func (s scattered) ReadAt(p []byte, off int64) (n int, err error) {
	i := sort.Search(len(s.pieces), func(i int) bool { return s.pieces[i].from+s.pieces[i].size > off })
	for ; i < len(s.pieces) && n < len(p); i++ {
		in := off + int64(n) - s.pieces[i].from
		want := p[n:min(int64(len(p)), int64(n)+s.pieces[i].size-in)]
		got, err := s.r.ReadAt(want, s.pieces[i].at+in)
		n += got
		if got < len(want) {
			return n, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// file is an open file.
type file struct {
	*io.SectionReader
	info  info
	image *os.File
	at    int64 // in the image; only with one
}

func newFile(about info, r io.ReaderAt, image *os.File, pieces []piece) *file {
	f := &file{info: about}
	switch len(pieces) {
	case 0:
		f.SectionReader, f.image = io.NewSectionReader(r, 0, 0), image
	case 1:
		f.SectionReader, f.image, f.at = io.NewSectionReader(r, pieces[0].at, pieces[0].size), image, pieces[0].at
	default:
		f.SectionReader = io.NewSectionReader(scattered{r, pieces}, 0, about.Size())
	}
	return f
}

// Stat describes the file.
func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close does nothing: the image is the caller's.
func (f *file) Close() error { return nil }

// Section is where the file is in another, which stays the image's owner's: it is read by
// offset only.
func (f *file) Section() (image *os.File, offset, size int64, ok bool) {
	return f.image, f.at, f.info.Size(), f.image != nil
}

// dir is an open folder.
type dir struct {
	info info
	fs   *FS
	path string
	list []fs.DirEntry
	read bool
}

// Stat describes the folder.
func (d *dir) Stat() (fs.FileInfo, error) { return d.info, nil }

// Read refuses.
func (d *dir) Read([]byte) (int, error) {
	return 0, failed("read", d.path, fs.ErrInvalid)
}

// Close does nothing.
func (d *dir) Close() error { return nil }

// ReadDir lists the next entries.
func (d *dir) ReadDir(n int) ([]fs.DirEntry, error) {
	if !d.read {
		list, err := d.fs.ReadDir(d.path)
		if err != nil {
			return nil, err
		}
		d.list, d.read = list, true
	}
	if n <= 0 || n > len(d.list) {
		if n > 0 && len(d.list) == 0 {
			return nil, io.EOF
		}
		n = len(d.list)
	}
	out := d.list[:n:n]
	d.list = d.list[n:]
	return out, nil
}

// info describes a node by the name that was asked for.
type info struct {
	node node
	name string
}

// Name is the last part of the path.
func (i info) Name() string { return i.name }

// Size is in bytes.
func (i info) Size() int64 { return i.node.size }

// Mode is what Rock Ridge says, without set-user-ID and the like.
func (i info) Mode() fs.FileMode { return i.node.mode }

// ModTime is zero where the image does not say it.
func (i info) ModTime() time.Time { return i.node.time }

// IsDir says whether it is a folder.
func (i info) IsDir() bool { return i.node.mode.IsDir() }

// Sys is nil.
func (i info) Sys() any { return nil }
