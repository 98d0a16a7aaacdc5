package fsview

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"

	"rackboot/protocol"
)

// The container of LZMA2 (xz file format 1.2.1). The library's own reader takes memory as
// any block's header says, up to 4 GiB, and a record for each block; this one has bounds
// for both.
const (
	// xzDict is the largest dictionary, in bytes: what xz -9 has. Blocks are far fewer than
	// maxBlocks: xz makes them of 24 MiB and more.
	xzDict    = 64 << 20
	maxBlocks = 1 << 14
	// freeDicts is what all dictionaries of a file may be together, in bytes, before that
	// must be in proportion to what comes out: making them is work.
	freeDicts = 1 << 30
	dictRatio = 8

	xzLZMA2    = 0x21
	xzVLISize  = 9 // bytes of the longest number
	xzPadding  = 4
	xzFilters  = 0x03 // block flags: how many filters besides the last
	xzReserved = 0x3c
	xzPacked   = 0x40 // the packed size is given
	xzUnpacked = 0x80
)

const (
	xzMagic  = "\xfd7zXZ\x00"
	xzFooter = "YZ"
)

// xzReader unpacks xz streams, one after the other.
type xzReader struct {
	in       xzInput
	flags    [2]byte // of the stream
	data     io.Reader
	check    hash.Hash // of the block, nil for none
	packed   uint64    // as its header says, 0 if it does not
	unpacked uint64
	header   int64 // bytes of the block's header
	start    int64 // where its data begin
	size     uint64
	blocks   uint64
	total    int64     // unpacked, in all blocks
	dicts    int64     // what was taken for dictionaries
	records  hash.Hash // over what the index must say
	err      error
}

func newXz(r io.Reader) *xzReader {
	return &xzReader{in: xzInput{r: bufio.NewReader(r)}}
}

func (x *xzReader) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for x.err == nil {
		if x.data == nil {
			x.err = x.next()
			continue
		}
		n, err := x.data.Read(b)
		x.size += uint64(n)
		x.total += int64(n)
		if x.check != nil {
			x.check.Write(b[:n])
		}
		switch {
		case errors.Is(err, io.EOF):
			x.err = x.endBlock()
		case err != nil:
			x.err = x.spoiled(err)
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, x.err
}

// spoiled keeps what the source said, and calls everything else damage.
func (x *xzReader) spoiled(err error) error {
	if x.in.err != nil {
		return x.in.err
	}
	return err
}

var errXz = errors.New("damaged xz data")

// next goes to the next block.
func (x *xzReader) next() error {
	if x.records == nil {
		return x.spoiled(x.beginStream())
	}
	size, err := x.in.ReadByte()
	if err != nil {
		return x.spoiled(io.ErrUnexpectedEOF)
	}
	if size == 0 {
		return x.spoiled(x.endStream())
	}
	return x.spoiled(x.beginBlock(size))
}

// beginStream reads a stream's header, after the padding of another; io.EOF if there is
// none.
func (x *xzReader) beginStream() error {
	var h [12]byte
	for first := true; ; first = false {
		n, err := io.ReadFull(&x.in, h[:xzPadding])
		switch {
		case n == 0 && x.in.n > 0 && err != nil:
			return io.EOF
		case err != nil:
			return io.ErrUnexpectedEOF
		}
		if h[0] != 0 || h[1] != 0 || h[2] != 0 || h[3] != 0 {
			break
		}
		if first && x.in.n == xzPadding {
			return errXz
		}
	}
	if _, err := io.ReadFull(&x.in, h[xzPadding:]); err != nil {
		return io.ErrUnexpectedEOF
	}
	if string(h[:6]) != xzMagic || binary.LittleEndian.Uint32(h[8:]) != crc32.ChecksumIEEE(h[6:8]) {
		return errXz
	}
	x.flags, x.records = [2]byte(h[6:8]), sha256.New()
	x.blocks = 0
	if _, ok := x.newCheck(); !ok || h[6] != 0 {
		return protocol.Errorf(protocol.CodeUnsupported, "repack archive", "its check is none that is known").WithHint("compress it anew by xz --check=crc64")
	}
	return nil
}

// newCheck is the check of the stream's blocks; nil for none.
func (x *xzReader) newCheck() (h hash.Hash, ok bool) {
	switch x.flags[1] {
	case 0x00:
		return nil, true
	case 0x01:
		return crc32.NewIEEE(), true
	case 0x04:
		return crc64.New(crc64.MakeTable(crc64.ECMA)), true
	case 0x0a:
		return sha256.New(), true
	}
	return nil, false
}

func (x *xzReader) beginBlock(size byte) error {
	if x.blocks++; x.blocks > maxBlocks {
		return protocol.Errorf(protocol.CodeUnsupported, "repack archive", "it has more than %d blocks", maxBlocks).WithHint("compress it anew by xz -6")
	}
	x.header = (int64(size) + 1) * xzPadding
	raw := make([]byte, x.header)
	raw[0] = size
	if _, err := io.ReadFull(&x.in, raw[1:]); err != nil {
		return io.ErrUnexpectedEOF
	}
	body := raw[:len(raw)-crc32.Size]
	if binary.LittleEndian.Uint32(raw[len(body):]) != crc32.ChecksumIEEE(body) || body[1]&xzReserved != 0 {
		return errXz
	}
	fields := bytes.NewReader(body[2:])
	var err error
	number := func() (n uint64) {
		if err == nil {
			n, err = xzNumber(fields)
		}
		return n
	}
	x.packed, x.unpacked = 0, 0
	if body[1]&xzPacked != 0 {
		x.packed = number()
	}
	if body[1]&xzUnpacked != 0 {
		x.unpacked = number()
	}
	id, length := number(), number()
	if body[1]&xzFilters != 0 || err == nil && id != xzLZMA2 {
		return protocol.Errorf(protocol.CodeUnsupported, "repack archive", "it is filtered for programs of a processor").WithHint("compress it anew by xz -6, without --x86 or the like")
	}
	code, cerr := fields.ReadByte()
	if err != nil || cerr != nil || length != 1 {
		return errXz
	}
	dict, err := lzma.DecodeDictCap(code)
	if err != nil {
		return errXz
	}
	if dict > xzDict {
		return protocol.Errorf(protocol.CodeUnsupported, "repack archive", "it needs %d bytes of memory, at most %d", dict, xzDict).WithHint("compress it anew by xz -9 or less")
	}
	if x.unpacked != 0 && x.unpacked < uint64(dict) {
		dict = int64(x.unpacked) // it never looks back further
	}
	if x.dicts += dict; x.dicts > freeDicts && x.dicts/dictRatio > x.total {
		return protocol.Errorf(protocol.CodeUnsupported, "repack archive", "its blocks are small for dictionaries of %d bytes", dict).WithHint("compress it anew by xz -6")
	}
	x.start, x.size = x.in.n, 0
	x.check, _ = x.newCheck()
	x.data, err = lzma.Reader2Config{DictCap: int(max(dict, lzma.MinDictCap))}.NewReader2(&x.in)
	return err
}

// endBlock checks sizes and sum of a block that was read.
func (x *xzReader) endBlock() error {
	if r, ok := x.data.(*lzma.Reader2); ok && !r.EOS() {
		return x.spoiled(io.ErrUnexpectedEOF)
	}
	x.data = nil
	packed := x.in.n - x.start
	var rest [xzPadding + sha256.Size]byte
	pad := int(-packed & (xzPadding - 1))
	sum := 0
	if x.check != nil {
		sum = x.check.Size()
	}
	if _, err := io.ReadFull(&x.in, rest[:pad+sum]); err != nil {
		return x.spoiled(io.ErrUnexpectedEOF)
	}
	for _, b := range rest[:pad] {
		if b != 0 {
			return errXz
		}
	}
	if x.check != nil {
		want := x.check.Sum(nil)
		if sum != sha256.Size { // CRCs are little-endian here and big-endian in Go
			for i, j := 0, len(want)-1; i < j; i, j = i+1, j-1 {
				want[i], want[j] = want[j], want[i]
			}
		}
		if !bytes.Equal(want, rest[pad:pad+sum]) {
			return errXz
		}
	}
	if x.packed != 0 && x.packed != uint64(packed) || x.unpacked != 0 && x.unpacked != x.size {
		return errXz
	}
	x.record(uint64(x.header)+uint64(packed)+uint64(sum), x.size)
	return nil
}

// record notes what the index must say of a block.
func (x *xzReader) record(unpadded, unpacked uint64) {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], unpadded)
	binary.LittleEndian.PutUint64(b[8:], unpacked)
	x.records.Write(b[:])
}

// endStream compares the index, whose first byte was read, and the footer with what came.
func (x *xzReader) endStream() error {
	said := x.records.Sum(nil)
	start := x.in.n - 1
	x.in.sum = crc32.NewIEEE()
	x.in.sum.Write([]byte{0})
	n, err := xzNumber(&x.in)
	if err != nil || n != x.blocks {
		return errXz
	}
	x.records = sha256.New()
	for range n {
		unpadded, err := xzNumber(&x.in)
		if err != nil {
			return errXz
		}
		unpacked, err := xzNumber(&x.in)
		if err != nil {
			return errXz
		}
		x.record(unpadded, unpacked)
	}
	for (x.in.n-start)%xzPadding != 0 {
		if b, err := x.in.ReadByte(); err != nil || b != 0 {
			return errXz
		}
	}
	sum := x.in.sum.Sum32()
	x.in.sum = nil
	size := x.in.n - start // with its sum, which follows, this is the backward size
	var f [16]byte         // the index's sum; the footer: sum, backward size, flags, magic
	if _, err := io.ReadFull(&x.in, f[:]); err != nil {
		return io.ErrUnexpectedEOF
	}
	if !bytes.Equal(x.records.Sum(nil), said) || binary.LittleEndian.Uint32(f[:]) != sum ||
		binary.LittleEndian.Uint32(f[4:]) != crc32.ChecksumIEEE(f[8:14]) || (int64(binary.LittleEndian.Uint32(f[8:]))+1)*xzPadding != size+crc32.Size ||
		[2]byte(f[12:14]) != x.flags || string(f[14:]) != xzFooter {
		return errXz
	}
	x.records = nil
	return nil
}

// xzNumber reads a number of the container: seven bits a byte, the lowest first.
func xzNumber(r io.ByteReader) (n uint64, err error) {
	for i := range xzVLISize {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		n |= uint64(b&0x7f) << (7 * i)
		if b&0x80 == 0 {
			if b == 0 && i > 0 {
				return 0, errXz
			}
			return n, nil
		}
	}
	return 0, errXz
}

// xzInput counts what is read, and sums it up where somebody wants that.
type xzInput struct {
	r   *bufio.Reader
	n   int64
	sum hash.Hash32
	err error // of the source, but for its end
}

func (i *xzInput) Read(b []byte) (int, error) {
	n, err := i.r.Read(b)
	i.note(b[:n], err)
	return n, err
}

func (i *xzInput) ReadByte() (byte, error) {
	b, err := i.r.ReadByte()
	if err != nil {
		i.note(nil, err)
		return 0, err
	}
	i.note([]byte{b}, nil)
	return b, nil
}

func (i *xzInput) note(b []byte, err error) {
	i.n += int64(len(b))
	if i.sum != nil {
		i.sum.Write(b)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		i.err = err
	}
}
