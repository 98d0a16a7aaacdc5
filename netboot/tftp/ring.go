package tftp

import (
	"encoding/binary"
	"io"
	"sync"
)

const (
	// aheadWindows is how many windows are in memory: the one that is sent, and one
	// that is read while the client answers.
	aheadWindows = 2
	// aheadBytes is how much is in memory at least, so that a file is read in pieces of
	// half as much, and not block by block.
	aheadBytes = 32 << 10
	// maxRead bounds one read of the file.
	maxRead = 64 << 10
)

// ring holds the DATA packets of the blocks that may be asked for again, and of
// those that come next. Blocks are numbered from 1 without rollover. One goroutine sends
// blocks up to read while another one reads those after it.
type ring struct {
	file    io.Reader
	packets []byte
	blksize int64
	slots   int64
	size    int64
	total   int64 // blocks; the last is shorter than blksize, and may be empty
	read    int64 // the last block that was read
}

// ringSlots is how many packets a ring holds, where room is how many bytes it may take
// beyond what its windows need.
func ringSlots(size int64, blksize, window, room int) int {
	total := size/int64(blksize) + 1
	return int(min(total, int64(max(aheadWindows*window, min(aheadBytes, room)/(headerSize+blksize)))))
}

// ringSize is how many bytes they take.
func ringSize(slots, blksize int) int { return slots * (headerSize + blksize) }

func newRing(file io.Reader, size int64, blksize, slots int) *ring {
	return &ring{
		file: file, packets: make([]byte, ringSize(slots, blksize)),
		blksize: int64(blksize), slots: int64(slots), size: size, total: size/int64(blksize) + 1,
	}
}

// wanted is up to which block there is something to read, where base is the last that is
// not needed any more. It is not worth while before half of the ring is free.
func (r *ring) wanted(base int64) (block int64, ok bool) {
	block = min(base+r.slots, r.total)
	return block, r.read < r.total && (block == r.total || block-r.read >= (r.slots+1)/2) && block > r.read
}

// fill reads the blocks after read up to one that wanted allows, and makes packets of
// them. A file that ends before its size is an error: a shorter file is not served as the
// whole.
func (r *ring) fill(pieces *sync.Pool, block int64) error {
	piece := pieces.Get().(*[]byte)
	defer pieces.Put(piece)
	many := max(1, maxRead/r.blksize)
	for next := r.read + 1; next <= block; {
		last := min(next+many-1, block)
		b := (*piece)[:min(last*r.blksize, r.size)-(next-1)*r.blksize]
		if _, err := io.ReadFull(r.file, b); err != nil {
			return err
		}
		for ; next <= last; next++ {
			p := r.packet(next)
			binary.BigEndian.PutUint16(p, opData)
			binary.BigEndian.PutUint16(p[2:], uint16(next)) // rolls over to 0
			b = b[copy(p[headerSize:], b):]
		}
	}
	return nil
}

// newPieces are what files are read into.
func newPieces() *sync.Pool {
	return &sync.Pool{New: func() any {
		b := make([]byte, max(maxRead, maxBlksize))
		return &b
	}}
}

// packet is the DATA of a block that is in the ring.
func (r *ring) packet(block int64) []byte {
	at := (block - 1) % r.slots * r.stride()
	return r.packets[at : at+headerSize+min(r.blksize, r.size-(block-1)*r.blksize)]
}

// stride is the size of a packet but the last one.
func (r *ring) stride() int64 { return headerSize + r.blksize }

// run is the packets of the blocks from first to last, or of the first of them, which lie
// one behind the other.
func (r *ring) run(first, last int64) (b []byte, end int64) {
	at := (first - 1) % r.slots
	end = min(last, first+r.slots-at-1)
	return r.packets[at*r.stride() : (at+end-first)*r.stride()+int64(len(r.packet(end)))], end
}
