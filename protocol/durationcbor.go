package protocol

import (
	"encoding/binary"
	"math"
)

// The major types of integers (RFC 8949 section 3.1), as they stand in an initial byte.
const (
	cborUnsigned = 0x00
	cborNegative = 0x20
)

// MarshalCBOR writes nanoseconds as a CBOR integer of the shortest form, as time.Duration
// travels. Without it the codec would take the text that people write.
func (d Duration) MarshalCBOR() ([]byte, error) {
	kind, n := byte(cborUnsigned), uint64(d)
	if d < 0 {
		kind, n = cborNegative, uint64(-1-d)
	}
	switch {
	case n < 24:
		return []byte{kind | byte(n)}, nil
	case n <= math.MaxUint8:
		return []byte{kind | 24, byte(n)}, nil
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16([]byte{kind | 25}, uint16(n)), nil
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32([]byte{kind | 26}, uint32(n)), nil
	}
	return binary.BigEndian.AppendUint64([]byte{kind | 27}, n), nil
}

// UnmarshalCBOR reads what MarshalCBOR writes, in any length.
func (d *Duration) UnmarshalCBOR(b []byte) error {
	bad := Errorf(CodeInvalid, "read duration", "% x is no CBOR integer of 64 bits", b[:min(len(b), 9)])
	if len(b) == 0 || b[0] >= 2*cborNegative {
		return bad
	}
	size := 0
	n := uint64(b[0] & 0x1f)
	if n >= 24 {
		size = 1 << (n - 24)
		if n > 27 || len(b) != 1+size {
			return bad
		}
		n = 0
		for _, x := range b[1:] {
			n = n<<8 | uint64(x)
		}
	}
	if len(b) != 1+size || n > math.MaxInt64 {
		return bad
	}
	*d = Duration(n)
	if b[0] >= cborNegative {
		*d = -1 - *d
	}
	return nil
}
