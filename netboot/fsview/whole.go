package fsview

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"

	"rackboot/protocol"
)

// wholeHead is how much of a file [ReadWhole] keeps: what kernels and EFI programs say of
// themselves lies in it.
const wholeHead = 32 << 10

// Whole is a file that was read to its end.
type Whole struct {
	Digest string // sha256: and 64 hex digits
	Size   int64  // bytes
	Head   []byte // its first bytes, at most 32 KiB
}

// ReadWhole reads a file to its end: what lists and headers say of it may not be there.
// Errors are those of the file system; invalid for what is no file, or shorter than it
// says; timeout when ctx ended.
func ReadWhole(ctx context.Context, fsys fs.FS, name string) (Whole, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return Whole{}, err
	}
	defer f.Close()
	i, err := f.Stat()
	switch {
	case err != nil:
		return Whole{}, err
	case !i.Mode().IsRegular():
		return Whole{}, failure("read", name, protocol.Errorf(protocol.CodeInvalid, "", "it is not a file"))
	}
	sum, head := sha256.New(), make([]byte, min(i.Size(), wholeHead))
	if _, err := io.ReadFull(f, head); err != nil {
		return Whole{}, judged("read", name, "its content", err)
	}
	sum.Write(head)
	in := &counted{ctx: ctx, r: f, n: int64(len(head))}
	if _, err := io.CopyBuffer(onlyWriter{sum}, in, make([]byte, 256<<10)); err != nil {
		if context.Cause(ctx) != nil {
			return Whole{}, failure("read", name, protocol.Errorf(protocol.CodeTimeout, "", "stopped after %d bytes: %w", in.n, context.Cause(ctx)))
		}
		return Whole{}, judged("read", name, "its content", err)
	}
	if in.n != i.Size() {
		return Whole{}, failure("read", name, broken("", "it has %d bytes, and its entry says %d", "compare the checksum of what it is in, and upload that again", in.n, i.Size()))
	}
	return Whole{Digest: "sha256:" + hex.EncodeToString(sum.Sum(nil)), Size: in.n, Head: head}, nil
}

// onlyWriter hides what else a writer could do, so that the buffer is used.
type onlyWriter struct{ io.Writer }
