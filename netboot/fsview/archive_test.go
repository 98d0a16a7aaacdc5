package fsview

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"rackboot/netboot/iso/isotest"
	"rackboot/protocol"
)

// zipped makes a zip; what is done to a header comes first.
type zipped struct {
	name, text string
	with       func(*zip.FileHeader)
}

func deflated(h *zip.FileHeader) { h.Method = zip.Deflate }

func makeZip(t testing.TB, files ...zipped) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Store, Modified: noon}
		if f.with != nil {
			f.with(h)
		}
		out, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(out, f.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tarred is an entry of a tar.
type tarred struct {
	name, text string
	with       func(*tar.Header)
}

func linked(kind byte, to string) func(*tar.Header) {
	return func(h *tar.Header) { h.Typeflag, h.Linkname, h.Size = kind, to, 0 }
}

func makeTar(t testing.TB, files ...tarred) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(f.text)), ModTime: noon}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if f.with != nil {
			f.with(h)
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(t testing.TB, b []byte) (fs.FS, error) {
	t.Helper()
	return Archiver{Spool: t.TempDir()}.Archive(bytes.NewReader(b), int64(len(b)), "x")
}

var large = strings.Repeat("initrd of some size. ", 1<<9)

// TestArchives: every kind of archive is the same tree, alone and in a view, on disk and
// in memory.
func TestArchives(t *testing.T) {
	long := "long/" + strings.Repeat("d/", 40) + strings.Repeat("n", 150)
	symlink := func(h *zip.FileHeader) { h.SetMode(fs.ModeSymlink | 0o777) }
	iso := isotest.Tree{Label: "X", RockRidge: true, Entries: []isotest.Entry{
		{Path: "boot/linux", Content: []byte("kernel")},
		{Path: "boot/initrd", Content: []byte(large)},
		{Path: "boot/vmlinuz", Link: "linux"},
		{Path: "debian", Link: "."},
		{Path: "empty", Dir: true},
		{Path: "none"},
	}}.Bytes()
	for kind, image := range map[string][]byte{
		"iso": iso,
		"zip": makeZip(t, zipped{"boot/linux", "kernel", nil}, zipped{"boot/initrd", large, nil}, zipped{"boot/vmlinuz", "linux", symlink}, zipped{"debian", ".", symlink}, zipped{"empty/", "", nil}, zipped{"none", "", nil}),
		"deflated zip": makeZip(t, zipped{"boot/", "", nil}, zipped{"boot/linux", "kernel", deflated}, zipped{"boot/initrd", large, deflated}, zipped{"boot/vmlinuz", "linux", symlink}, zipped{"debian", ".", symlink}, zipped{"empty/", "", nil},
			zipped{"none", "", deflated}, zipped{"gone", "boot/nothing", symlink}, zipped{"fifo", "", func(h *zip.FileHeader) { h.SetMode(fs.ModeNamedPipe) }}),
		"tar": makeTar(t, tarred{"./", "", nil}, tarred{"./boot/", "", nil}, tarred{"./boot/linux", "before", nil}, tarred{"./boot/linux", "kernel", nil}, tarred{"./boot/initrd", large, nil}, tarred{"./boot/vmlinuz", "", linked(tar.TypeSymlink, "../boot/./linux")},
			tarred{"debian", "", linked(tar.TypeSymlink, ".")}, tarred{"empty/", "", nil}, tarred{"none", "", nil}, tarred{"hard", "", linked(tar.TypeLink, "./boot/linux")}, tarred{long, "long", nil},
			tarred{"gone", "", linked(tar.TypeSymlink, "nothing")}, tarred{"out", "", linked(tar.TypeSymlink, "../../x")}, tarred{"root", "", linked(tar.TypeSymlink, "/boot")}, tarred{"a", "", linked(tar.TypeSymlink, "b")}, tarred{"b", "", linked(tar.TypeSymlink, "a")},
			tarred{"dev", "", linked(tar.TypeChar, "")}, tarred{"fifo", "", linked(tar.TypeFifo, "")}),
	} {
		t.Run(kind, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "x")
			if err := os.WriteFile(name, append([]byte("before the archive"), image...), 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			inFile, err := Archiver{Spool: t.TempDir()}.Archive(io.NewSectionReader(f, 18, int64(len(image))), int64(len(image)), "x")
			if err != nil {
				t.Fatal(err)
			}
			inMemory, err := open(t, image)
			if err != nil {
				t.Fatal(err)
			}
			for _, fsys := range []fs.FS{inFile, inMemory, view(t, Mount{FS: inFile, Fold: true}, Mount{At: "mem", FS: inMemory})} {
				if err := fstest.TestFS(fsys, "boot/linux", "boot/initrd", "boot/vmlinuz", "debian", "empty", "none"); err != nil {
					t.Error(err)
				}
				for name, want := range map[string]string{"boot/linux": "kernel", "boot/vmlinuz": "kernel", "debian/debian/boot/linux": "kernel", "boot/initrd": large, "none": ""} {
					if text(t, fsys, name) != want {
						t.Errorf("%s is something else", name)
					}
				}
				for _, name := range []string{"gone", "fifo", "dev", "out", "root/linux", "boot/linux/x", "nothing", "a"} {
					if _, err := fsys.Open(name); err == nil {
						t.Errorf("%s is opened", name)
					}
				}
				if kind == "tar" && (text(t, fsys, "hard") != "kernel" || text(t, fsys, long) != "long") {
					t.Error("links and long names")
				}
			}
			v := view(t, Mount{FS: inFile}, Mount{Links: Links{"m/boot": "boot"}})
			if kind == "zip" || kind == "tar" { // TestSection and TestSpool have the others
				section(t, v, "m/boot/initrd", large)
			}
			if c, ok := inFile.(io.Closer); ok {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// section fails unless a file says where its text lies as it is.
func section(t *testing.T, fsys fs.FS, name, want string) {
	t.Helper()
	o, err := fsys.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	f, at, n, ok := o.(Sectioner).Section()
	if !ok {
		t.Fatalf("%s has no section", name)
	}
	b := make([]byte, n)
	if _, err := f.ReadAt(b, at); err != nil || string(b) != want {
		t.Errorf("%s is not at %d of %s, %v", name, at, f.Name(), err)
	}
}

// TestSection: what can be sent by sendfile says so through every layer.
func TestSection(t *testing.T) {
	dir := t.TempDir()
	iso := isotest.Tree{Label: "X", Joliet: true, Entries: []isotest.Entry{{Path: "boot/linux", Content: []byte("kernel")}}}.Bytes()
	if err := os.WriteFile(filepath.Join(dir, "x.iso"), iso, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, "x.iso"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	image, err := Archive(f, int64(len(iso)), "x.iso")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Disk(dir)
	if err != nil {
		t.Fatal(err)
	}
	v := view(t, Mount{FS: d, Close: d.(io.Closer).Close}, Mount{At: "iso", FS: image, Fold: true}, Mount{Links: Links{"link": "iso/boot"}}, Mount{At: "nested", FS: view(t, Mount{FS: image})})
	section(t, v, "x.iso", string(iso))
	section(t, v, "iso/BOOT/LINUX", "kernel")
	section(t, v, "link/linux", "kernel")
	section(t, v, "nested/boot/linux", "kernel")
	// An archive inside of the image is read there too.
	inner, err := v.Open("x.iso")
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	b := makeTar(t, tarred{"x", "inside", nil})
	all := append([]byte("0123"), b...)
	if err := os.WriteFile(filepath.Join(dir, "t"), all, 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := v.Open("t")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	in, err := Archive(io.NewSectionReader(o.(Content), 4, int64(len(b))), int64(len(b)), "t")
	if err != nil {
		t.Fatal(err)
	}
	section(t, in, "x", "inside")
}

// TestArchiveRefuses has a row for everything that is no archive for us.
func TestArchiveRefuses(t *testing.T) {
	one := makeZip(t, zipped{"a", "text", nil})
	bomb := makeZip(t, zipped{"a", strings.Repeat("\x00", 17<<20), deflated})
	flag := func(bits uint16) []byte { // in the directory, whose header is the last
		b := bytes.Clone(one)
		at := bytes.LastIndex(b, []byte("PK\x01\x02"))
		b[at+8] |= byte(bits)
		b[at+9] |= byte(bits >> 8)
		return b
	}
	method := bytes.Clone(one)
	method[bytes.LastIndex(method, []byte("PK\x01\x02"))+10] = 93
	many := make([]tarred, 40)
	for i := range many {
		many[i].name = strings.Repeat("n", i+1)
	}
	sparse := makeTar(t, tarred{"a", "", nil})
	sparse[156] = tar.TypeGNUSparse
	copy(sparse[tarMagicAt:], "ustar  \x00")
	resum(sparse)
	multi := makeTar(t, tarred{"a", "", nil})
	multi[156] = gnuMulti
	resum(multi)
	pax := bytes.ReplaceAll(makeTar(t, tarred{"a", "", func(h *tar.Header) { h.PAXRecords = map[string]string{"XNU.sparse.major": "2"} }}), []byte("XNU.sparse"), []byte("GNU.sparse"))
	good := makeTar(t, tarred{"boot/initrd", large, nil})
	for _, row := range []struct {
		name   string
		image  []byte
		limits Limits
		code   protocol.Code
		want   string
	}{
		{"nothing", nil, Limits{}, protocol.CodeUnsupported, "no ISO image, zip or tar"},
		{"text", []byte("hello"), Limits{}, protocol.CodeUnsupported, "no ISO image, zip or tar"},
		{"zeros", make([]byte, 64<<10), Limits{}, protocol.CodeUnsupported, "no ISO image, zip or tar"},
		{"gzip", []byte("\x1f\x8b\x08rest"), Limits{}, protocol.CodeUnsupported, "compressed by gzip"},
		{"xz", []byte(xzMagic), Limits{}, protocol.CodeUnsupported, "compressed by xz"},
		{"7z", []byte("7z\xbc\xaf\x27\x1c"), Limits{}, protocol.CodeUnsupported, "7z"},
		{"cpio", []byte("070701"), Limits{}, protocol.CodeUnsupported, "cpio"},
		{"a cut ISO", append(make([]byte, 32<<10), []byte("\x01CD001\x01")...), Limits{}, protocol.CodeInvalid, ""},

		{"an empty zip", makeZip(t), Limits{}, protocol.CodeUnsupported, "empty zip"},
		{"a cut zip", one[:len(one)-30], Limits{}, protocol.CodeInvalid, "directory is not there"},
		{"a zip without its beginning of the directory", one[:40], Limits{}, protocol.CodeInvalid, "directory is not there"},
		{"an encrypted zip", flag(1), Limits{}, protocol.CodeUnsupported, "a is encrypted"},
		{"a strongly encrypted zip", flag(1 << 6), Limits{}, protocol.CodeUnsupported, "a is encrypted"},
		{"another method", method, Limits{}, protocol.CodeUnsupported, "method 93"},
		{"a name twice", makeZip(t, zipped{"a", "1", nil}, zipped{"a", "2", nil}), Limits{}, protocol.CodeInvalid, "a twice"},
		{"a name twice in two forms", makeZip(t, zipped{"./a", "1", nil}, zipped{"a", "2", nil}), Limits{}, protocol.CodeInvalid, "a twice"},
		{"a file as a directory", makeZip(t, zipped{"a", "1", nil}, zipped{"a/b", "2", nil}), Limits{}, protocol.CodeInvalid, "a as a file and as a directory"},
		{"a directory as a file", makeZip(t, zipped{"a/b", "1", nil}, zipped{"a", "2", nil}), Limits{}, protocol.CodeInvalid, "a as a file and as a directory"},
		{"out of the zip", makeZip(t, zipped{"../a", "1", nil}), Limits{}, protocol.CodeInvalid, "upwards"},
		{"out of the zip by a detour", makeZip(t, zipped{"b/../../a", "1", nil}), Limits{}, protocol.CodeInvalid, "upwards"},
		{"an absolute name", makeZip(t, zipped{"/a", "1", nil}), Limits{}, protocol.CodeInvalid, "absolute"},
		{"a backslash", makeZip(t, zipped{`b\a`, "1", nil}), Limits{}, protocol.CodeInvalid, "backslash"},
		{"a NUL", makeZip(t, zipped{"a\x00", "1", nil}), Limits{}, protocol.CodeInvalid, "NUL"},
		{"no UTF-8", makeZip(t, zipped{"a\xff", "1", func(h *zip.FileHeader) { h.NonUTF8 = true }}), Limits{}, protocol.CodeInvalid, "UTF-8"},
		{"a zip bomb", bomb, Limits{}, protocol.CodeUnsupported, "200 times"},
		{"too large", bomb, Limits{Ratio: 2000, Bytes: 1 << 20}, protocol.CodeUnsupported, "1048576 bytes"},
		{"too many in a zip", makeZip(t, zipped{"a", "", nil}, zipped{"b", "", nil}), Limits{Entries: 1}, protocol.CodeUnsupported, "more than 1 entries"},
		{"a long target", makeZip(t, zipped{"a", strings.Repeat("a/", 3000), func(h *zip.FileHeader) { h.SetMode(fs.ModeSymlink) }}), Limits{}, protocol.CodeInvalid, "symbolic link a"},

		{"a cut tar", good[:len(good)/2], Limits{}, protocol.CodeInvalid, "it ends in"},
		{"a tar cut in its last file", good[:len(good)-1024-512], Limits{}, protocol.CodeInvalid, "it ends in"},
		{"a damaged header", damaged(makeTar(t, tarred{"a", "", nil}, tarred{"b", "", nil}), 512+10), Limits{}, protocol.CodeInvalid, "header after 1 entries"},
		{"out of the tar", makeTar(t, tarred{"../a", "", nil}), Limits{}, protocol.CodeInvalid, "upwards"},
		{"an absolute name in a tar", makeTar(t, tarred{"/etc/passwd", "", nil}), Limits{}, protocol.CodeInvalid, "absolute"},
		{"a hard link to nothing", makeTar(t, tarred{"a", "", linked(tar.TypeLink, "b")}), Limits{}, protocol.CodeInvalid, "hard link to b"},
		{"a hard link to a directory", makeTar(t, tarred{"b/", "", nil}, tarred{"a", "", linked(tar.TypeLink, "b")}), Limits{}, protocol.CodeInvalid, "hard link to b"},
		{"a hard link upwards", makeTar(t, tarred{"a", "", linked(tar.TypeLink, "../b")}), Limits{}, protocol.CodeInvalid, "upwards"},
		{"a file below a link", makeTar(t, tarred{"a", "", linked(tar.TypeSymlink, "/etc")}, tarred{"a/passwd", "", nil}), Limits{}, protocol.CodeInvalid, "a as a file and as a directory"},
		{"a sparse file", sparse, Limits{}, protocol.CodeUnsupported, "sparse"},
		{"a file that PAX says is sparse", pax, Limits{}, protocol.CodeUnsupported, "sparse"},
		{"several volumes", multi, Limits{}, protocol.CodeUnsupported, "volume"},
		{"too many in a tar", makeTar(t, many...), Limits{Entries: 30}, protocol.CodeUnsupported, "more than 30 entries"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := Archiver{Limits: row.limits, Spool: t.TempDir()}.Archive(bytes.NewReader(row.image), int64(len(row.image)), "x.zip")
			wantCode(t, err, row.code)
			if err == nil || !strings.Contains(err.Error(), row.want) || protocol.HintOf(err) == "" {
				t.Errorf("%v (%s), want %q", err, protocol.HintOf(err), row.want)
			}
		})
	}
}

func damaged(b []byte, at int) []byte {
	b[at] ^= 0xff
	return b
}

// resum puts the sum of a tar's first header right.
func resum(b []byte) {
	copy(b[tarSumAt:], "        ")
	sum := 0
	for _, c := range b[:tarBlock] {
		sum += int(c)
	}
	for i := 5; i >= 0; i-- {
		b[tarSumAt+i] = byte('0' + sum%8)
		sum /= 8
	}
	b[tarSumAt+6], b[tarSumAt+7] = 0, ' '
}

// TestUnreadable: trouble with the disk is not taken for a bad archive.
func TestUnreadable(t *testing.T) {
	image := makeTar(t, tarred{"a", large, nil}, tarred{"b", "", nil})
	for _, after := range []int64{0, 600} {
		_, err := Archive(failsAfter{bytes.NewReader(image), after}, int64(len(image)), "x")
		wantCode(t, err, protocol.CodeUnavailable)
	}
}

type failsAfter struct {
	io.ReaderAt
	at int64
}

func (f failsAfter) ReadAt(b []byte, at int64) (int, error) {
	if at+int64(len(b)) > f.at && at+int64(len(b)) > headSize {
		return 0, errors.New("input/output error")
	}
	if at >= f.at {
		return 0, errors.New("input/output error")
	}
	return f.ReaderAt.ReadAt(b, at)
}
