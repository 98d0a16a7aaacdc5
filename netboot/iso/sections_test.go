package iso_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"rackboot/netboot/iso"
	"rackboot/netboot/iso/isotest"
)

// section is what sendfile needs of a file.
type section interface {
	io.ReaderAt
	io.ReadSeeker
	Section() (f *os.File, offset, size int64, ok bool)
}

const (
	gib = 1 << 30
	// full is the largest section of whole blocks (ECMA-119 9.1.4: 32 bits of bytes).
	full = 4*gib - isotest.Sector
	// farAt is the block where the sections begin.
	farAt = 1000
)

// large is an image whose file of more than 4 GiB has two sections, in one piece and with a
// gap between. It is sparse: where a section begins and ends are a few bytes.
func large(t *testing.T) (image *os.File, v *iso.FS) {
	t.Helper()
	const second = farAt + full/isotest.Sector
	head := isotest.Tree{RockRidge: true, Entries: []isotest.Entry{
		{Path: "one", Sections: []isotest.Section{{Block: farAt, Size: full}, {Block: second, Size: gib + 5}}},
		{Path: "two", Sections: []isotest.Section{{Block: second + 1, Size: gib}, {Block: farAt, Size: full}, {Block: farAt, Size: 3}}},
		{Path: "small", Content: []byte("small")},
		{Path: "none"},
	}}.Bytes()
	image, err := os.Create(filepath.Join(t.TempDir(), "large.iso"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { image.Close() })
	if err := image.Truncate(second*isotest.Sector + gib + 10*isotest.Sector); err != nil {
		t.Fatal(err)
	}
	for at, text := range map[int64]string{
		0: string(head), farAt * isotest.Sector: "begin", second*isotest.Sector - 3: "end", second * isotest.Sector: "second",
		second*isotest.Sector + gib: "the 5",
	} {
		if _, err := image.WriteAt([]byte(text), at); err != nil {
			t.Fatal(err)
		}
	}
	about, err := image.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if v, err = iso.OpenFS(image, about.Size()); err != nil {
		t.Fatal(err)
	}
	return image, v
}

// TestSections: files of more than 4 GiB are read across their sections, and those in one
// piece can be sent from the image.
func TestSections(t *testing.T) {
	image, v := large(t)
	for _, row := range []struct {
		name  string
		size  int64
		at    int64 // in the image; -1 for several pieces
		parts map[int64]string
	}{
		{"one", full + gib + 5, farAt * isotest.Sector, map[int64]string{0: "begin\x00", full - 3: "endsecond\x00", full + gib: "the 5"}},
		{"two", gib + full + 3, -1, map[int64]string{gib - 1: "\x00begin", gib + full - 3: "endbeg", gib + full: "beg"}},
		{"small", 5, -2, map[int64]string{0: "small"}},
		{"none", 0, -2, nil},
	} {
		opened, err := v.Open(row.name)
		if err != nil {
			t.Fatal(err)
		}
		f := opened.(section)
		if about, err := opened.Stat(); err != nil || about.Size() != row.size {
			t.Errorf("%s: %d bytes, %v", row.name, about.Size(), err)
		}
		if end, err := f.Seek(0, io.SeekEnd); err != nil || end != row.size {
			t.Errorf("%s: it ends at %d, %v", row.name, end, err)
		}
		for at, want := range row.parts {
			got := make([]byte, len(want))
			if n, err := f.ReadAt(got, at); n != len(got) || err != nil && !errors.Is(err, io.EOF) || string(got) != want {
				t.Errorf("%s at %d: %q, %v", row.name, at, got[:n], err)
			}
			_, err := f.Seek(at, io.SeekStart)
			if n, rerr := io.ReadFull(f, got); err != nil || rerr != nil || string(got[:n]) != want {
				t.Errorf("%s from %d: %q, %v", row.name, at, got[:n], errors.Join(err, rerr))
			}
		}
		if n, err := f.ReadAt(make([]byte, 10), row.size-min(row.size, 3)); !errors.Is(err, io.EOF) || n != int(min(row.size, 3)) {
			t.Errorf("%s: %d bytes at the end, %v", row.name, n, err)
		}
		from, at, size, ok := f.Section()
		if ok != (row.at != -1) || ok && (from != image || size != row.size || row.at >= 0 && at != row.at) {
			t.Errorf("%s: section %v %d %d %t", row.name, from, at, size, ok)
		}
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	}
	if at, err := image.Seek(0, io.SeekCurrent); at != 0 || err != nil {
		t.Errorf("the image was moved to %d, %v", at, err)
	}
}

// TestNoSection: an image that is no file has no sections.
func TestNoSection(t *testing.T) {
	f, err := open(t, tree(true, false).Bytes()).Open("install.amd/vmlinuz")
	if err != nil {
		t.Fatal(err)
	}
	if image, _, _, ok := f.(section).Section(); ok || image != nil {
		t.Errorf("%v, %t", image, ok)
	}
}

// TestConcurrent: many read at once, from folders that are not kept yet.
func TestConcurrent(t *testing.T) {
	v := open(t, tree(true, true).Bytes())
	var group sync.WaitGroup
	for i := range 32 {
		group.Go(func() {
			for n := range 100 {
				name := fmt.Sprintf("pool/%03d.deb", (n*7+i)%100)
				if got, err := fs.ReadFile(v, name); err != nil || string(got) != fmt.Sprint((n*7+i)%100) {
					t.Errorf("%s: %q, %v", name, got, err)
				}
			}
			f, err := v.Open("install.amd/vmlinuz")
			if err != nil {
				t.Error(err)
				return
			}
			part := make([]byte, 700)
			for at := int64(0); at < 7000; at += 700 {
				if _, err := f.(io.ReaderAt).ReadAt(part, at); err != nil || !bytes.Equal(part, bytes.Repeat([]byte("kernel "), 100)) {
					t.Errorf("at %d: %v", at, err)
				}
			}
		})
	}
	group.Wait()
}
