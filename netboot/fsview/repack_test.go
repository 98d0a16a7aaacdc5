package fsview

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"rackboot/protocol"
)

// bzipped is a tar with boot/linux in it, by bzip2 1.0; the library unpacks only.
const bzipped = "QlpoOTFBWSZTWdcw+ZcAAC5bgMkAQADvgAEAci2eQAgIIABUUAJtTAmGieglBJoNNGgBoVib/IQECXa2kclsQFRaycR6MBo6Z0aAyjVSZYQTRrkGCQjUhxfe+caSiKK6HP0XckU4UJDXMPmX"

func gzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	return written1(t, w, b, &out)
}

func xzipped(t testing.TB, b []byte, c xz.WriterConfig) []byte {
	t.Helper()
	var out bytes.Buffer
	if c.DictCap == 0 {
		c.DictCap = 64 << 10 // the library takes time to make larger ones
	}
	w, err := c.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	return written1(t, w, b, &out)
}

func zstdded(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(128<<10))
	if err != nil {
		t.Fatal(err)
	}
	return written1(t, w, b, &out)
}

func written1(t testing.TB, w io.WriteCloser, b []byte, out *bytes.Buffer) []byte {
	t.Helper()
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestRepack: what comes out is the tar that went in, and is an archive.
func TestRepack(t *testing.T) {
	plain := makeTar(t, tarred{"boot/linux", "kernel", nil}, tarred{"boot/initrd", noise(200_000, 1), nil})
	bz, err := base64.StdEncoding.DecodeString(bzipped)
	if err != nil {
		t.Fatal(err)
	}
	two := append(xzipped(t, plain[:700], xz.WriterConfig{}), 0, 0, 0, 0)
	two = append(two, xzipped(t, plain[700:], xz.WriterConfig{CheckSum: xz.CRC32})...)
	for kind, packed := range map[string][]byte{
		"tar":                  plain,
		"gzip":                 gzipped(t, plain),
		"gzip of two members":  append(gzipped(t, plain[:1000]), gzipped(t, plain[1000:])...),
		"gzip with padding":    gzipped(t, append(bytes.Clone(plain), make([]byte, 8192)...)),
		"xz":                   xzipped(t, plain, xz.WriterConfig{}),
		"xz without a check":   xzipped(t, plain, xz.WriterConfig{NoCheckSum: true}),
		"xz with SHA-256":      xzipped(t, plain, xz.WriterConfig{CheckSum: xz.SHA256}),
		"xz of several blocks": xzipped(t, plain, xz.WriterConfig{BlockSize: 50_000, CheckSum: xz.CRC64}),
		"xz of two streams":    two,
		"bzip2":                bz,
		"zstd":                 zstdded(t, plain),
		"zstd of two frames":   append(zstdded(t, plain[:1000]), zstdded(t, plain[1000:])...),
	} {
		t.Run(kind, func(t *testing.T) {
			var out bytes.Buffer
			if err := Repack(t.Context(), bytes.NewReader(packed), &out, Limits{}); err != nil {
				t.Fatal(err)
			}
			if kind != "bzip2" && !bytes.Equal(out.Bytes(), plain) {
				t.Errorf("%d bytes, want %d", out.Len(), len(plain))
			}
			if Compressed(packed) == (kind == "tar") || Compressed(out.Bytes()) {
				t.Error("what is compressed?")
			}
			fsys, err := open(t, out.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			if text(t, fsys, "boot/linux") != "kernel" {
				t.Error("another kernel")
			}
			if kind == "bzip2" {
				if err := fstest.TestFS(fsys, "boot/linux"); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestRepackRefuses: what is damaged, too much, or nothing that would be an archive.
func TestRepackRefuses(t *testing.T) {
	good := makeTar(t, tarred{"boot/linux", noise(80_000, 1), nil}, tarred{"boot/initrd", "initrd", nil})
	gz := gzipped(t, good)
	xzs := xzipped(t, good, xz.WriterConfig{BlockSize: 20_000})
	zeros := makeTar(t, tarred{"a", strings.Repeat("\x00", 17<<20), nil})
	for _, row := range []struct {
		name   string
		packed []byte
		limits Limits
		code   protocol.Code
		want   string
	}{
		{"nothing", nil, Limits{}, protocol.CodeUnsupported, "no tar"},
		{"a zip", makeZip(t, zipped{"a", "1", nil}), Limits{}, protocol.CodeUnsupported, "no tar"},
		{"a packed kernel", gzipped(t, []byte("kernel")), Limits{}, protocol.CodeUnsupported, "no tar"},
		{"packed twice", gzipped(t, gz), Limits{}, protocol.CodeUnsupported, "no tar"},
		{"a gzip bomb", gzipped(t, zeros), Limits{}, protocol.CodeUnsupported, "200 times"},
		{"a zstd bomb", zstdded(t, zeros), Limits{}, protocol.CodeUnsupported, "200 times"},
		{"too large", gz, Limits{Bytes: 50_000}, protocol.CodeUnsupported, "50000 bytes"},
		{"too many", gz, Limits{Entries: 1}, protocol.CodeUnsupported, "more than 1 entries"},
		{"a cut gzip", gz[:30_000], Limits{}, protocol.CodeInvalid, "ends in"},
		{"a gzip with a wrong sum", damaged(bytes.Clone(gz), len(gz)-6), Limits{}, protocol.CodeInvalid, "damaged"},
		{"a damaged gzip", damaged(bytes.Clone(gz), 20_000), Limits{}, protocol.CodeInvalid, ""},
		{"a cut xz", xzs[:30_000], Limits{}, protocol.CodeInvalid, "ends in"},
		{"an xz without its footer", xzs[:len(xzs)-5], Limits{}, protocol.CodeInvalid, "damaged"},
		{"an xz with another footer", damaged(bytes.Clone(xzs), len(xzs)-6), Limits{}, protocol.CodeInvalid, "damaged"},
		{"an xz with another index", damaged(bytes.Clone(xzs), len(xzs)-20), Limits{}, protocol.CodeInvalid, "damaged"},
		{"a damaged xz", damaged(bytes.Clone(xzs), 20_000), Limits{}, protocol.CodeInvalid, ""},
		{"an xz with another header", damaged(bytes.Clone(xzs), 8), Limits{}, protocol.CodeInvalid, "damaged"},
		{"an xz with something behind it", append(bytes.Clone(xzs), []byte("something else")...), Limits{}, protocol.CodeInvalid, "damaged"},
		{"an xz of many small blocks", xzipped(t, makeTar(t, tarred{"a", noise(17_000, 1), nil}), xz.WriterConfig{BlockSize: 1, DictCap: 4096}), Limits{}, protocol.CodeUnsupported, "16384 blocks"},
		{"an xz of small blocks with large dictionaries", manyDicts(t), Limits{}, protocol.CodeUnsupported, "small for dictionaries"},
		{"an xz that wants 1 GiB", largeDict(xzs), Limits{}, protocol.CodeUnsupported, "bytes of memory"},
		{"a zstd that wants 512 MiB", []byte("\x28\xb5\x2f\xfd\x00\x98\x01\x00\x00"), Limits{}, protocol.CodeInvalid, "damaged"},
		{"a damaged zstd", damaged(zstdded(t, good), 20_000), Limits{}, protocol.CodeInvalid, ""},
		{"out of the tar", gzipped(t, makeTar(t, tarred{"../a", "", nil})), Limits{}, protocol.CodeInvalid, "upwards"},
	} {
		t.Run(row.name, func(t *testing.T) {
			err := Repack(t.Context(), bytes.NewReader(row.packed), io.Discard, row.limits)
			wantCode(t, err, row.code)
			if err == nil || !strings.Contains(err.Error(), row.want) || protocol.HintOf(err) == "" {
				t.Errorf("%v (%s), want %q", err, protocol.HintOf(err), row.want)
			}
		})
	}
}

// TestRepackBomb: a gigabyte of zeros ends after the first of them.
func TestRepackBomb(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	go func() {
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err == nil {
			_, err = z.Write(makeTar(t, tarred{"a", strings.Repeat("\x00", 1<<20), nil})[:512])
		}
		zeros := make([]byte, 1<<20)
		for i := 0; i < 1<<10 && err == nil; i++ {
			_, err = z.Write(zeros)
		}
		w.CloseWithError(errors.Join(err, z.Close()))
	}()
	out := &counter{}
	err := Repack(t.Context(), r, out, Limits{Bytes: 1 << 40})
	if err == nil || out.n > 64<<20 {
		t.Errorf("%v after %d bytes", err, out.n)
	}
}

type counter struct{ n int64 }

func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return len(b), nil
}

// TestRepackMemory: memory does not depend on the size.
func TestRepackMemory(t *testing.T) {
	packed := gzipped(t, makeTar(t, tarred{"a", noise(4<<20, 1), nil}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := Repack(t.Context(), bytes.NewReader(packed), io.Discard, Limits{}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes were allocated for 4 MiB", n)
	}
}

// TestRepackStops: with its context, its source and where it writes to.
func TestRepackStops(t *testing.T) {
	packed := gzipped(t, makeTar(t, tarred{"a", noise(100_000, 1), nil}))
	ctx, cancel := context.WithCancel(t.Context())
	err := Repack(ctx, io.MultiReader(bytes.NewReader(packed[:50_000]), cancels{cancel}, bytes.NewReader(packed[50_000:])), io.Discard, Limits{})
	wantCode(t, err, protocol.CodeTimeout)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	gone := errors.New("the connection is gone")
	err = Repack(t.Context(), io.MultiReader(bytes.NewReader(packed[:50_000]), failingReader{gone}), io.Discard, Limits{})
	wantCode(t, err, protocol.CodeUnavailable)
	if !errors.Is(err, gone) {
		t.Error(err)
	}
	err = Repack(t.Context(), bytes.NewReader(packed), failingWriter{os.ErrClosed}, Limits{})
	if !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}

type cancels struct{ cancel func() }

func (c cancels) Read([]byte) (int, error) {
	c.cancel()
	return 0, io.EOF
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }
