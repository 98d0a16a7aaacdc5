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
		r := newRing(bytes.NewReader(file), row.size, blksize, window)
		if r.total != row.blocks || len(r.packets)+min(len(r.packets)/(headerSize+blksize)*blksize, maxRead) != ringSize(row.size, blksize, window) {
			t.Errorf("%d bytes: %d blocks, %d bytes of packets", row.size, r.total, len(r.packets))
		}
		if err := r.fill(0, r.total); err != nil || r.read != row.ahead {
			t.Errorf("%d bytes: %d blocks are read ahead, want %d (%v)", row.size, r.read, row.ahead, err)
		}
		var got []byte
		for block := int64(1); block <= r.total; block++ {
			if err := r.fill(block-1, block); err != nil {
				t.Fatal(err)
			}
			p := r.packet(block)
			if opcode(p) != opData || int64(binary.BigEndian.Uint16(p[2:])) != block || (len(p) < headerSize+blksize) != (block == r.total) {
				t.Errorf("%d bytes: block %d is % x", row.size, block, p[:headerSize])
			}
			got = append(got, p[headerSize:]...)
		}
		if !bytes.Equal(got, file) {
			t.Errorf("%d bytes: the blocks are not the file", row.size)
		}
	}
	r := newRing(bytes.NewReader(pattern(250)), 300, blksize, window)
	if err := r.fill(0, 2); err != nil {
		t.Error(err)
	}
	if err := r.fill(0, 3); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that is shorter than its size: %v", err)
	}
}
