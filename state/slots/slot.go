package slots

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
)

// A slot begins with these bytes, and has behind them, each in eight bytes, big endian, the
// sequence number and the length of the record, then the digest of all that and of the record,
// then the record.
const (
	magic      = "rbslot1\n"
	numbers    = len(magic) + 8 + 8
	headerSize = numbers + sha256.Size
)

// slot is what one file has.
type slot struct {
	sequence uint64 // 0 is none
	data     []byte
}

// encode returns a slot as it lies on disk.
func encode(sequence uint64, data []byte) []byte {
	raw := make([]byte, headerSize+len(data))
	copy(raw, magic)
	binary.BigEndian.PutUint64(raw[len(magic):], sequence)
	binary.BigEndian.PutUint64(raw[len(magic)+8:], uint64(len(data)))
	copy(raw[headerSize:], data)
	sum := digest(raw[:numbers], data)
	copy(raw[numbers:], sum[:])
	return raw
}

// decode reads what is on disk, and reports whether it is whole. What lies behind the record is
// of an earlier, longer one.
func decode(raw []byte) (slot, bool) {
	if len(raw) < headerSize || string(raw[:len(magic)]) != magic {
		return slot{}, false
	}
	sequence := binary.BigEndian.Uint64(raw[len(magic):])
	length := binary.BigEndian.Uint64(raw[len(magic)+8:])
	if sequence == 0 || length > uint64(len(raw)-headerSize) {
		return slot{}, false
	}
	data := raw[headerSize:][:length]
	if sum := digest(raw[:numbers], data); !bytes.Equal(sum[:], raw[numbers:headerSize]) {
		return slot{}, false
	}
	return slot{sequence, data}, true
}

// blank reports whether nothing was ever written.
func blank(raw []byte) bool { return len(bytes.Trim(raw, "\x00")) == 0 }

func digest(head, data []byte) (sum [sha256.Size]byte) {
	h := sha256.New()
	h.Write(head)
	h.Write(data)
	return [sha256.Size]byte(h.Sum(sum[:0]))
}
