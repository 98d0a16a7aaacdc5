package fsview

import (
	"bufio"
	"context"
	"errors"
	"io"

	"rackboot/protocol"
)

// Unpack writes what a file is that gzip, xz, bzip2 or zstd compressed, whatever it is.
// How long that gets is for dst to bound. Memory is that of [Repack], and it ends with the
// context as that does.
//
// Errors: invalid for what is damaged or not compressed, timeout when the context ended;
// those of src and dst as they are. What was written by then is to be thrown away.
func Unpack(ctx context.Context, src io.Reader, dst io.Writer) error {
	packed := &counted{ctx: ctx, r: src}
	in := bufio.NewReaderSize(packed, headSize)
	head, err := in.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return repackError(ctx, packed, err)
	}
	f, ok := formatOf(head)
	if !ok || f.unpack == nil {
		return protocol.Errorf(protocol.CodeInvalid, "unpack file", "it is not compressed by gzip, xz, bzip2 or zstd").
			WithHint("give no sum of what is in it, if it is booted as it is")
	}
	r, done, err := f.unpack(in)
	if err != nil {
		return repackError(ctx, packed, err)
	}
	defer done()
	out := &written{w: dst}
	if _, err := io.Copy(out, r); err != nil {
		if out.err != nil {
			return out.err
		}
		return repackError(ctx, packed, err)
	}
	return nil
}
