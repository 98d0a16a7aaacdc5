package tftp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

// TestRing: packets of any size of file are right, two windows are read and no
// more, and the memory is what was said.
func TestRing(t *testing.T) {
	const blksize, window = 100, 4
	pieces := newPieces()
	for _, row := range []struct {
		size, blocks, ahead int64
	}{
		{0, 1, 1},
		{1, 1, 1},
		{99, 1, 1},
		{100, 2, 2}, // RFC 1350 section 6: the last block is empty
		{799, 8, 8},
		{800, 9, 8},
		{5050, 51, 8},
	} {
		file := pattern(int(row.size))
		slots := ringSlots(row.size, blksize, window, 0)
		r := newRing(bytes.NewReader(file), row.size, blksize, slots)
		if r.total != row.blocks || len(r.packets) != ringSize(slots, blksize) {
			t.Errorf("%d bytes: %d blocks, %d bytes of packets", row.size, r.total, len(r.packets))
		}
		if block, ok := r.wanted(0); !ok || block != row.ahead {
			t.Errorf("%d bytes: %d blocks are wanted, want %d", row.size, block, row.ahead)
		}
		var got []byte
		for base := int64(0); base < r.total; {
			if block, ok := r.wanted(base); ok {
				if err := r.fill(pieces, block); err != nil {
					t.Fatal(err)
				}
				r.read = block
			}
			last := min(base+window, r.total)
			if r.read < last {
				t.Fatalf("%d bytes: %d blocks are read after %d", row.size, r.read, base)
			}
			for base < last {
				b, end := r.run(base+1, last)
				for base < end {
					base++
					p := r.packet(base)
					if opcode(p) != opData || int64(binary.BigEndian.Uint16(p[2:])) != base || (len(p) < headerSize+blksize) != (base == r.total) || !bytes.HasPrefix(b, p) {
						t.Errorf("%d bytes: block %d is % x", row.size, base, p[:headerSize])
					}
					b = b[len(p):]
					got = append(got, p[headerSize:]...)
				}
				if len(b) > 0 {
					t.Errorf("%d bytes: %d bytes too many up to block %d", row.size, len(b), base)
				}
			}
		}
		if !bytes.Equal(got, file) {
			t.Errorf("%d bytes: the blocks are not the file", row.size)
		}
	}
	r := newRing(bytes.NewReader(pattern(250)), 300, blksize, 8)
	if err := r.fill(pieces, 2); err != nil {
		t.Error(err)
	}
	r.read = 2
	if err := r.fill(pieces, 3); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that is shorter than its size: %v", err)
	}
}

// TestRingSlots: the windows always have room; beyond them it is as much as is left.
func TestRingSlots(t *testing.T) {
	for _, row := range []struct {
		size                  int64
		blksize, window, room int
		slots                 int
	}{
		{1 << 30, 1468, 1, 1 << 20, 22},
		{1 << 30, 1468, 1, 8 << 10, 5},
		{1 << 30, 1468, 1, 0, 2},
		{1 << 30, 1468, 64, 1 << 20, 128},
		{1 << 30, 65464, 1, 1 << 20, 2},
		{3000, 1468, 64, 1 << 20, 3},
		{0, 512, 1, 1 << 20, 1},
	} {
		if got := ringSlots(row.size, row.blksize, row.window, row.room); got != row.slots {
			t.Errorf("%+v: %d", row, got)
		}
	}
}
