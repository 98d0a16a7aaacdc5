package iso

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	protoapi "rackboot/protocol/api"
)

// BenchmarkUpload uploads a file of 5 GiB as rackctl does, in pieces of 16 MiB, and says
// how much memory that took. It needs 6 GiB of disk; make bench-iso runs it once.
func BenchmarkUpload(b *testing.B) {
	const size, piece = 5 << 30, 16 << 20
	head := tarHead(b, size)
	whole := int64(len(head)) + size + 1024 // two blocks end a tar
	content := func(from, n int64) io.Reader {
		return io.NewSectionReader(sparse{head, whole}, from, n)
	}
	h := sha256.New()
	if _, err := io.Copy(h, content(0, whole)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s := newSite(b, func(c *Config) { c.Quota, c.MinFree = 0, 256<<20 })
		u, err := s.Begin(b.Context(), protoapi.ISOUploadRequest{File: "big.tar", Digest: fmt.Sprintf("sha256:%x", h.Sum(nil)), Size: whole}, "ann")
		if err != nil {
			b.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		for u.Offset < whole {
			if u, err = s.Append(b.Context(), u.ID, u.Offset, content(u.Offset, min(piece, whole-u.Offset))); err != nil {
				b.Fatal(err)
			}
		}
		took := time.Since(began)
		if _, err := s.Finish(b.Context(), u.ID, protoapi.ISOFinishRequest{File: "big.tar"}); err != nil {
			b.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(whole)/took.Seconds()/1e6, "MB/s")
		b.ReportMetric(float64(after.HeapSys-before.HeapSys)/(1<<20), "MiB-heap")
		b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/(1<<20), "MiB-allocated")
		if err := s.blobs.Remove(fmt.Sprintf("sha256:%x", h.Sum(nil))); err != nil {
			b.Fatal(err)
		}
	}
}

// tarHead is the header of a file of so many bytes.
func tarHead(b *testing.B, size int64) []byte {
	b.Helper()
	var out bytes.Buffer
	if err := tar.NewWriter(&out).WriteHeader(&tar.Header{Name: "rootfs.squashfs", Mode: 0o644, Size: size, Format: tar.FormatUSTAR}); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

// sparse is a header, and nothing but zeros after it.
type sparse struct {
	head []byte
	size int64
}

func (s sparse) ReadAt(p []byte, at int64) (int, error) {
	n := int(min(int64(len(p)), s.size-at))
	if n <= 0 {
		return 0, io.EOF
	}
	clear(p[:n])
	if at < int64(len(s.head)) {
		copy(p[:n], s.head[at:])
	}
	return n, nil
}
