package tftp

import (
	"bufio"
	"encoding/binary"
	"io"
)

const (
	// aheadWindows is how many windows are in memory: the one that is sent, and one
	// that is read while the client answers.
	aheadWindows = 2
	// maxRead bounds one read of the file.
	maxRead = 64 << 10
)

// ring holds the DATA packets of the blocks that may be asked for again, and of
// those that come next. Blocks are numbered from 1 without rollover.
type ring struct {
	file    *bufio.Reader
	packets []byte
	blksize int64
	slots   int64
	size    int64
	total   int64 // blocks; the last is shorter than blksize, and may be empty
	read    int64 // the last block that was read
}

// ringSize is how many bytes newRing takes.
func ringSize(size int64, blksize, window int) int {
	slots, read := ringShape(size, blksize, window)
	return slots*(headerSize+blksize) + read
}

func ringShape(size int64, blksize, window int) (slots, read int) {
	total := size/int64(blksize) + 1
	slots = int(min(total, int64(aheadWindows*window)))
	return slots, min(slots*blksize, maxRead)
}

func newRing(file io.Reader, size int64, blksize, window int) *ring {
	slots, read := ringShape(size, blksize, window)
	return &ring{
		file:    bufio.NewReaderSize(file, read),
		packets: make([]byte, slots*(headerSize+blksize)),
		blksize: int64(blksize), slots: int64(slots), size: size, total: size/int64(blksize) + 1,
	}
}

// fill reads up to a block, where base is the last that is not needed any more.
// A file that ends before its size is an error: a shorter file is not served as
// the whole.
func (r *ring) fill(base, block int64) error {
	for block = min(block, base+r.slots, r.total); r.read < block; r.read++ {
		p := r.packet(r.read + 1)
		binary.BigEndian.PutUint16(p, opData)
		binary.BigEndian.PutUint16(p[2:], uint16(r.read+1)) // rolls over to 0
		if _, err := io.ReadFull(r.file, p[headerSize:]); err != nil {
			return err
		}
	}
	return nil
}

// packet is the DATA of a block that is in the ring.
func (r *ring) packet(block int64) []byte {
	at := (block - 1) % r.slots * (headerSize + r.blksize)
	return r.packets[at : at+headerSize+min(r.blksize, r.size-(block-1)*r.blksize)]
}
