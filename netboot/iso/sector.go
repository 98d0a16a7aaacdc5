package iso

import (
	"encoding/binary"
	"errors"
	"io"

	"rackboot/protocol"
)

// sectorSize is that of a logical sector and block (ECMA-119 6.1.2, 6.2.2).
const sectorSize = 2048

// Volume descriptors begin at sector 16 and end with a terminator (ECMA-119 8.1). No
// image has more than a few.
const (
	firstDescriptor = 16
	maxDescriptors  = 32

	typeBoot          = 0
	typePrimary       = 1
	typeSupplementary = 2
	typeTerminator    = 255

	standardID = "CD001"
)

// ErrBeyond is in the chain of an error of a reader that has only the beginning of an
// image: what lies beyond is not judged.
var ErrBeyond = errors.New("beyond what was read")

// op is in the errors of all that reads.
const op = "read ISO image"

func wrong(format string, args ...any) error {
	return protocol.Errorf(protocol.CodeInvalid, op, format, args...).
		WithHint("compare the image with what its publisher says of it, size and SHA-256, and fetch it again or make it again with xorriso")
}

// sector reads one sector.
func sector(r io.ReaderAt, n uint32) ([]byte, error) { return span(r, int64(n)*sectorSize, sectorSize) }

// span reads n bytes at an offset; what is not there is invalid.
func span(r io.ReaderAt, at int64, n int) ([]byte, error) {
	b := make([]byte, n)
	got, err := r.ReadAt(b, at)
	switch {
	case got == n:
		return b, nil
	case errors.Is(err, io.EOF), err == nil:
		return nil, wrong("it ends before byte %d", at+int64(n))
	}
	return nil, err
}

// span reads n bytes at an offset of a volume, and nothing beyond its image.
func (v *volume) span(at int64, n int) ([]byte, error) {
	if at < 0 || at+int64(n) > v.size {
		return nil, v.ends(at + int64(n))
	}
	return span(v.r, at, n)
}

// ends is the error of an image that is too short.
func (v *volume) ends(before int64) error {
	return wrong("it ends at byte %d, and should go on to byte %d", v.size, before)
}

// descriptors calls do for each volume descriptor before the terminator, until it says
// that it has enough. What begins otherwise is no ISO image.
func descriptors(r io.ReaderAt, do func(kind byte, d []byte) (enough bool)) error {
	for n := range uint32(maxDescriptors) {
		d, err := sector(r, firstDescriptor+n)
		switch {
		case err != nil:
			return err
		case string(d[1:6]) != standardID || d[6] != 1 && d[0] != typeSupplementary: // one of ISO 9660:1999 has version 2
			return wrong("sector %d is no volume descriptor of ISO 9660", firstDescriptor+n)
		case n == 0 && d[0] != typePrimary:
			return wrong("it has no primary volume descriptor")
		case d[0] == typeTerminator, do(d[0], d):
			return nil
		}
	}
	return wrong("its volume descriptors do not end")
}

// le32 reads the little-endian half of a number that stands in both orders (ECMA-119
// 7.3.3).
func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
