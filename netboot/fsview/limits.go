package fsview

import (
	"context"
	"errors"
	"io"

	"rackboot/protocol"
)

// Limits bound what an archive may turn into. Zero fields have the values of the
// comments.
type Limits struct {
	// Bytes is the most that all of it may be, unpacked: 64 GiB. Installation media have
	// up to 20 GB.
	Bytes int64
	// Ratio is how many times as much as packed the unpacked content may be, looked at
	// from 16 MiB on: 200. Deflate reaches 1032 and LZMA more, with nothing but zeros;
	// systems and packages reach 10.
	Ratio int64
	// Entries is how many files, directories and links there may be: 131072.
	Entries int
}

const (
	mostBytes   = 64 << 30
	mostRatio   = 200
	mostEntries = 1 << 17
	// freeBytes are unpacked before the ratio counts: small texts are packed well.
	freeBytes = 16 << 20
)

func (l Limits) filled() Limits {
	if l.Bytes <= 0 {
		l.Bytes = mostBytes
	}
	if l.Ratio <= 0 {
		l.Ratio = mostRatio
	}
	if l.Entries <= 0 {
		l.Entries = mostEntries
	}
	return l
}

// checkBytes refuses what packed bytes unpack to.
func (l Limits) checkBytes(op string, packed, unpacked int64) error {
	switch {
	case unpacked > l.Bytes:
		return protocol.Errorf(protocol.CodeUnsupported, op, "it is more than %d bytes unpacked", l.Bytes).
			WithHint("divide it, or leave out what no boot needs")
	case unpacked > freeBytes && unpacked/l.Ratio > packed:
		return protocol.Errorf(protocol.CodeUnsupported, op, "it is more than %d times as large unpacked", l.Ratio).
			WithHint("it looks like a zip bomb; if it is not, give it as a tar that is not compressed")
	}
	return nil
}

func (l Limits) checkEntries(op string, n int) error {
	if n <= l.Entries {
		return nil
	}
	return protocol.Errorf(protocol.CodeUnsupported, op, "it has more than %d entries", l.Entries).
		WithHint("divide it, or leave out what no boot needs")
}

// counted counts what is read, and stops with the context.
type counted struct {
	ctx context.Context
	r   io.Reader
	n   int64
	err error // of r, but for its end
}

func (c *counted) Read(b []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	n, err := c.r.Read(b)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// limited is what comes out of packed, as long as it is within the limits.
type limited struct {
	r      io.Reader
	limits Limits
	packed *counted
	n      int64
}

func (l *limited) Read(b []byte) (int, error) {
	n, err := l.r.Read(b[:min(len(b), 1<<20)])
	l.n += int64(n)
	if lerr := l.limits.checkBytes("repack archive", l.packed.n, l.n); lerr != nil {
		return 0, lerr
	}
	return n, err
}
