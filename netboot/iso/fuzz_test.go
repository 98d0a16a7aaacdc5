package iso_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"testing"

	"rackboot/netboot/iso"
	"rackboot/netboot/iso/isotest"
	"rackboot/protocol"
)

// FuzzOpenFS: no image makes it panic, read without end or keep much; what is refused has a
// code; what is listed is found; and what is read at once is what is read in parts.
func FuzzOpenFS(f *testing.F) {
	entries := []isotest.Entry{
		{Path: "a/b", Content: []byte("content")},
		{Path: "a/link", Link: "../a/./b"},
		{Path: "up", Link: ".."},
		{Path: "x/moved", Away: true},
		{Path: "x/moved/f", Content: []byte("y")},
		{Path: "two", Sections: []isotest.Section{{Block: 16, Size: 2048}, {Block: 20, Size: 5}}},
		{Path: "packed", Use: use("ZF", append([]byte("pz\x04\x0f"), two(9)...)...)},
		{Path: longName(), Content: []byte("x")},
		{Path: "continued", Use: ce(16, 0, 100)},
	}
	for _, t := range []isotest.Tree{{RockRidge: true, Entries: entries}, {Joliet: true, Entries: entries}, {RockRidge: true, XA: true, Joliet: true, Entries: entries[:2]}, {Entries: entries}} {
		f.Add(t.Bytes()[16*isotest.Sector:])
	}
	img, err := iso.Write("RACKBOOT", []iso.File{{"report-url", []byte("x")}, {"ignition.json", []byte("{}")}}, made())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(img[16*isotest.Sector:])
	f.Fuzz(func(t *testing.T, tail []byte) {
		img := append(make([]byte, 16*isotest.Sector), tail...)
		v, err := iso.OpenFS(bytes.NewReader(img), int64(len(img)))
		if err != nil {
			coded(t, ".", err)
			return
		}
		left := 300 // a crafted image shows a folder under many names
		_ = fs.WalkDir(v, ".", func(name string, d fs.DirEntry, err error) error {
			if left--; left < 0 {
				return fs.SkipAll
			}
			if err != nil {
				coded(t, name, err)
				return nil
			}
			if !fs.ValidPath(name) {
				t.Errorf("%q is no path", name)
			}
			if about, err := v.Lstat(name); err != nil { // a folder that contains itself
				coded(t, name, err)
				return fs.SkipDir
			} else if about.Mode() != d.Type()|about.Mode().Perm() {
				t.Errorf("%q is listed as %v, and is %v", name, d.Type(), about.Mode())
			}
			if d.IsDir() {
				return nil
			}
			file, err := v.Open(name)
			if err != nil {
				if d.Type() == 0 || !errors.Is(err, fs.ErrNotExist) {
					coded(t, name, err)
				}
				return nil
			}
			inParts(t, name, file)
			return nil
		})
	})
}

// coded says that an error is one of the image's.
func coded(t *testing.T, name string, err error) {
	if code := protocol.CodeOf(err); code != protocol.CodeInvalid && code != protocol.CodeUnsupported {
		t.Errorf("%q: %v", name, err)
	}
}

// inParts reads the beginning of a file in two ways.
func inParts(t *testing.T, name string, file fs.File) {
	about, err := file.Stat()
	if err != nil || about.IsDir() { // a link to a folder
		return
	}
	whole := make([]byte, min(about.Size(), 16<<10))
	if n, err := file.(io.ReaderAt).ReadAt(whole, 0); n != len(whole) || err != nil && err != io.EOF {
		t.Errorf("%q: %d bytes of %d, %v", name, n, len(whole), err)
	}
	var parts []byte
	for part := make([]byte, 1000); len(parts) < len(whole); {
		n, err := file.Read(part)
		if parts = append(parts, part[:n]...); err != nil {
			break
		}
	}
	if !bytes.HasPrefix(parts, whole) {
		t.Errorf("%q: its parts are others", name)
	}
}
