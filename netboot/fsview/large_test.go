package fsview

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"testing"
)

// holes reads zeros where it has nothing.
type holes map[int64][]byte

func (h holes) ReadAt(b []byte, at int64) (int, error) {
	clear(b)
	for from, part := range h {
		lo, hi := max(at, from), min(at+int64(len(b)), from+int64(len(part)))
		if lo < hi {
			copy(b[lo-at:hi-at], part[lo-from:])
		}
	}
	return len(b), nil
}

// TestLargeArchives: sizes and places beyond 4 GiB (zip64, APPNOTE 4.5.3) and beyond
// 8 GiB (tar by PAX records and by base 256), and more entries than 16 bits count.
func TestLargeArchives(t *testing.T) {
	const far, size = 5 << 30, 9 << 30

	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.SetOffset(far)
	out, err := w.CreateHeader(&zip.FileHeader{Name: "a", Method: zip.Store})
	if err == nil {
		_, err = io.WriteString(out, "behind 5 GiB")
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	z, err := Archive(holes{0: []byte("PK\x03\x04"), far: b.Bytes()}, far+int64(b.Len()), "x")
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, z, "a"); got != "behind 5 GiB" {
		t.Errorf("%q", got)
	}

	for _, format := range []tar.Format{tar.FormatPAX, tar.FormatGNU} {
		head, tail := header(t, "large", size, format), makeTar(t, tarred{"last", "behind 9 GiB", nil})
		all := holes{0: head, int64(len(head)) + size - 3: []byte("end"), int64(len(head)) + size: tail}
		x, err := Archive(all, int64(len(head))+size+int64(len(tail)), "x")
		if err != nil {
			t.Fatal(err)
		}
		f, err := view(t, Mount{FS: x}).Open("large")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		end := make([]byte, 3)
		if n, err := f.(Content).Seek(-3, io.SeekEnd); n != size-3 || err != nil {
			t.Error(n, err)
		}
		if _, err := io.ReadFull(f, end); err != nil || string(end) != "end" {
			t.Errorf("%s, %v", end, err)
		}
		if text(t, x, "last") != "behind 9 GiB" {
			t.Error("what comes after it")
		}
	}

	files := make([]zipped, 1<<16+1)
	for i := range files {
		files[i].name = fmt.Sprintf("%d/%d", i/1000, i%1000)
	}
	many, err := open(t, makeZip(t, files...))
	if err != nil {
		t.Fatal(err)
	}
	if text(t, many, "65/536") != "" || len(names(t, many, "65")) != 537 {
		t.Error("not all entries are there")
	}
}

// header is what comes before the content of a file of that size in a tar.
func header(t *testing.T, name string, size int64, format tar.Format) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: size, Format: format}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
