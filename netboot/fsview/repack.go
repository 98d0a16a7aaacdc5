package fsview

import (
	"archive/tar"
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"rackboot/protocol"
)

// zstdWindow is the most that a frame may need to look back, in bytes: what zstd itself
// takes without --memory.
const zstdWindow = 128 << 20

// isZstd knows a frame (RFC 8878 section 3.1.1), or one that is skipped (3.1.2).
func isZstd(head []byte) bool {
	return len(head) >= 4 && (string(head[:4]) == "\x28\xb5\x2f\xfd" || head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18")
}

// Repack writes a tar that is compressed by gzip, xz, bzip2 or zstd as one that is not,
// so that it can be read where it lies; one that is not compressed is copied. What
// Archive would refuse is refused, and nothing follows the end that the tar says itself.
// Memory does not depend on the size: at most about 200 MiB for the largest dictionaries,
// and less than 1 MiB for gzip. It ends with the context, as fast as src and dst do.
//
// Errors: invalid for what is damaged or no tar, unsupported for what is beyond the limits
// or not for us, timeout when the context ended; those of src and dst as they are. What
// was written by then is to be thrown away.
func Repack(ctx context.Context, src io.Reader, dst io.Writer, limits Limits) error {
	limits = limits.filled()
	packed := &counted{ctx: ctx, r: src}
	in := bufio.NewReaderSize(packed, headSize)
	head, err := in.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return repackError(ctx, packed, err)
	}
	f, ok := formatOf(head)
	unpacked := io.Reader(in)
	switch {
	case ok && f.unpack != nil:
		r, done, err := f.unpack(in)
		if err != nil {
			return repackError(ctx, packed, err)
		}
		defer done()
		unpacked = r
	case !isTar(head):
		return notATar()
	}
	out := &limited{r: unpacked, limits: limits, packed: packed}
	text := bufio.NewReaderSize(out, 64<<10)
	if head, err := text.Peek(tarBlock); err != nil && !errors.Is(err, io.EOF) {
		return repackError(ctx, packed, err)
	} else if !isTar(head) {
		return notATar()
	}
	w := &written{w: dst}
	buffered := bufio.NewWriterSize(w, 256<<10)
	if err := repackTar(io.TeeReader(text, buffered), limits); err != nil && w.err == nil {
		return repackError(ctx, packed, err)
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	// What follows is padding; it is read for the sum at the end.
	if _, err := io.Copy(io.Discard, text); err != nil {
		return repackError(ctx, packed, err)
	}
	return nil
}

func notATar() error {
	return protocol.Errorf(protocol.CodeUnsupported, "repack archive", "there is no tar in it").
		WithHint("compress a tar; a kernel or initramfs that is compressed belongs into an archive as it is")
}

// repackTar reads a tar up to its end; what it reads is copied on the way.
func repackTar(r io.Reader, limits Limits) error {
	w := tarWalk{limits: limits, what: "tar"}
	in := tar.NewReader(onlyReader{r})
	for {
		h, kind, _, err := w.next(in)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case kind == tarFile && h.Size > limits.Bytes:
			return limits.checkBytes("repack archive", 0, h.Size)
		}
	}
}

// onlyReader hides that a reader could seek.
type onlyReader struct{ io.Reader }

// repackError tells what went wrong: the context ended, the source failed, or its content
// is not what it should be.
func repackError(ctx context.Context, packed *counted, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return protocol.Errorf(protocol.CodeTimeout, "repack archive", "stopped after %d bytes: %w", packed.n, cause).
			WithHint("try again, with more time")
	}
	if packed.err != nil {
		return protocol.Errorf(protocol.CodeUnavailable, "repack archive", "after %d bytes: %w", packed.n, packed.err).
			WithHint("look at where the archive comes from")
	}
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return e
	}
	return protocol.Errorf(protocol.CodeInvalid, "repack archive", "damaged after %d bytes: %w", packed.n, err).
		WithHint("it came incomplete or changed: compare its checksum")
}

func unpackGzip(r io.Reader) (io.Reader, func(), error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, nil, err
	}
	return z, func() { _ = z.Close() }, nil // it closes nothing but itself
}

func unpackBzip2(r io.Reader) (io.Reader, func(), error) { return bzip2.NewReader(r), func() {}, nil }

func unpackXz(r io.Reader) (io.Reader, func(), error) { return newXz(r), func() {}, nil }

func unpackZstd(r io.Reader) (io.Reader, func(), error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderMaxMemory(1<<62))
	if err != nil {
		return nil, nil, err
	}
	return z, z.Close, nil
}
