package fsview

import (
	"bytes"
	"hash/crc32"
	"io"
	"io/fs"
	"testing"

	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"

	"rackboot/protocol"
)

// largeDict makes an xz file's first block want a dictionary of 1 GiB.
func largeDict(b []byte) []byte { return withDict(bytes.Clone(b), 12, 1<<30) }

// withDict gives the block whose header is there another dictionary.
func withDict(b []byte, at int, dict int64) []byte {
	n := (int(b[at]) + 1) * xzPadding
	code := bytes.Index(b[at:at+n], []byte{xzLZMA2, 1}) + 2
	b[at+code] = lzma.EncodeDictCap(dict)
	sum := crc32.ChecksumIEEE(b[at : at+n-4])
	for i := range 4 {
		b[at+n-4+i] = byte(sum >> (8 * i))
	}
	return b
}

// manyDicts are streams of one byte each whose blocks want the largest dictionary; before
// them is the beginning of a tar.
func manyDicts(t *testing.T) []byte {
	t.Helper()
	plain := makeTar(t, tarred{"a", noise(1000, 1), nil})
	all := xzipped(t, plain[:600], xz.WriterConfig{DictCap: 4096})
	for i := range 20 {
		all = append(all, withDict(xzipped(t, plain[600+i:601+i], xz.WriterConfig{DictCap: 4096}), 12, xzDict)...)
	}
	return all
}

// walk reads all of a file system, up to a bound, and fails for what no file system may
// do.
func walk(t *testing.T, fsys fs.FS) {
	t.Helper()
	n := 0
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if n++; n > 1000 {
			return fs.SkipAll
		}
		if checkName(name) != nil {
			t.Errorf("%q is listed", name)
		}
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		f, err := fsys.Open(name)
		if err != nil {
			return nil
		}
		defer f.Close()
		fi, err := f.Stat()
		if err != nil {
			t.Error(err)
			return nil
		}
		if got, err := io.Copy(io.Discard, f); err == nil && got != fi.Size() {
			t.Errorf("%q has %d bytes and says %d", name, got, fi.Size())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func fuzzArchive(t *testing.T, image []byte) {
	t.Helper()
	fsys, err := Archiver{Spool: t.TempDir(), SpoolBytes: 1 << 20, Limits: Limits{Bytes: 1 << 24, Entries: 200}}.Archive(bytes.NewReader(image), int64(len(image)), "x")
	if err != nil {
		if code := protocol.CodeOf(err); code != protocol.CodeInvalid && code != protocol.CodeUnsupported {
			t.Errorf("code %q of %v", code, err)
		}
		return
	}
	walk(t, fsys)
	v, err := New([]Mount{{FS: fsys, Fold: true}, {At: "rackboot", FS: fold(fsys)}})
	if err == nil {
		walk(t, v)
		v.Release()
	}
	if c, ok := fsys.(io.Closer); ok {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if s := fsys.(archive).spool; s.used != 0 {
			t.Errorf("%d bytes stay", s.used)
		}
	}
}

// FuzzTar: no bytes make us read beyond them, loop, or list what cannot be opened.
func FuzzTar(f *testing.F) {
	f.Add(makeTar(f, tarred{"a/", "", nil}, tarred{"a/b", "text", nil}, tarred{"l", "", linked('2', "a/../l")}, tarred{"h", "", linked('1', "a/b")}))
	f.Add(makeTar(f, tarred{"a/b", "text", nil}, tarred{"s", "", linked('2', ".")}, tarred{string(bytes.Repeat([]byte("n"), 200)), "long", nil}))
	f.Fuzz(func(t *testing.T, image []byte) {
		if len(image) > tarBlock && !isISO(image) { // so that edits need not put the sum right
			for at := 0; at+tarBlock <= len(image) && at < 8*tarBlock; at += tarBlock {
				if image[at] != 0 && image[at+tarMagicAt] == 'u' {
					resum(image[at : at+tarBlock])
				}
			}
		}
		fuzzArchive(t, image)
	})
}

// FuzzZip is as FuzzTar.
func FuzzZip(f *testing.F) {
	f.Add(makeZip(f, zipped{"a/", "", nil}, zipped{"a/b", "text", nil}, zipped{"c", "text text text text", deflated}))
	f.Add(makeZip(f, zipped{"l", "a", nil}, zipped{"a", "l", nil}))
	f.Fuzz(fuzzArchive)
}

// FuzzRepack: what is unpacked is an archive.
func FuzzRepack(f *testing.F) {
	plain := makeTar(f, tarred{"a/b", "text", nil})
	f.Add(plain)
	f.Add(gzipped(f, plain))
	f.Add(zstdded(f, plain))
	f.Add(xzipped(f, plain, xz.WriterConfig{DictCap: 4096, BlockSize: 1000}))
	f.Add(largeDict(xzipped(f, plain, xz.WriterConfig{DictCap: 4096})))
	f.Fuzz(func(t *testing.T, packed []byte) {
		var out bytes.Buffer
		err := Repack(t.Context(), bytes.NewReader(packed), &out, Limits{Bytes: 1 << 22, Entries: 200})
		if err != nil {
			if code := protocol.CodeOf(err); code != protocol.CodeInvalid && code != protocol.CodeUnsupported {
				t.Errorf("code %q of %v", code, err)
			}
			return
		}
		if _, err := Archive(bytes.NewReader(out.Bytes()), int64(out.Len()), "x"); err != nil && protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("it was repacked, and %v", err)
		}
	})
}
