package iso

import (
	"encoding/binary"
	"io"
	"strings"

	"rackboot/protocol"
)

// names is how an image says the names of its files.
type names int

const (
	plainNames  names = iota // of ECMA-119
	jolietNames              // UCS-2, in a tree of its own
	rockNames                // Rock Ridge, in the primary tree
)

// volume is a tree of folders in an image.
type volume struct {
	r     io.ReaderAt
	size  int64 // of the image
	block int64 // extents are counted in these
	names names
	skip  int // bytes of each system use area before what SUSP says (SUSP 5.3)
	label string
	root  node
}

// rawSectors are the sizes of sectors of images that hold more than a sector's data, with
// the offset of the data in each: mode 2 without and with the sync pattern, mode 1, and
// the last two with subchannels.
var rawSectors = [][2]int64{{2336, 8}, {2352, 16}, {2352, 24}, {2448, 16}, {2448, 24}}

// openVolume reads the volume descriptors and picks the tree: Rock Ridge, else Joliet,
// else plain, which is what Linux mounts.
func openVolume(r io.ReaderAt, size int64) (*volume, error) {
	var primary, joliet []byte
	n := uint32(0)
	err := descriptors(r, func(kind byte, d []byte) bool {
		n++
		switch {
		case kind == typePrimary && primary == nil:
			primary = d
		case kind == typeSupplementary && joliet == nil && isJoliet(d):
			joliet = d
		}
		return false
	})
	if err != nil {
		return nil, notRaw(r, err)
	}
	v, err := newVolume(r, size, primary)
	if err != nil {
		return nil, err
	}
	if err := v.whole(primary); err != nil {
		return nil, err
	}
	if v.names, v.skip, err = v.rockRidge(); err != nil {
		return nil, err
	}
	if v.names == plainNames && joliet != nil {
		wide, err := newVolume(r, size, joliet)
		if err != nil {
			return nil, err
		}
		wide.names, wide.label = jolietNames, v.label
		v = wide
	}
	return v, v.notUDF(firstDescriptor + n + 1)
}

func newVolume(r io.ReaderAt, size int64, d []byte) (*volume, error) {
	v := &volume{r: r, size: size, block: int64(binary.LittleEndian.Uint16(d[128:])), label: strings.TrimRight(string(d[40:72]), " \x00")}
	if v.block != 512 && v.block != 1024 && v.block != sectorSize {
		return nil, wrong("its logical blocks have %d bytes; 512, 1024 and %d are known", v.block, sectorSize)
	}
	root := d[156 : 156+rootRecord]
	if root[25]&flagFolder == 0 {
		return nil, wrong("its root is no folder")
	}
	v.root = node{name: ".", mode: defaultFolder, first: extentOf(root), time: stamp(root[18:25])}
	return v, nil
}

// whole compares the size that the image says of itself, the volume space size (ECMA-119
// 8.4.8), with what there is. An image that is cut off has all its folders, as they come
// first, and lacks the end of its files.
func (v *volume) whole(primary []byte) error {
	if says := int64(le32(primary[80:])) * v.block; says > v.size {
		return v.ends(says)
	}
	return nil
}

// isJoliet says whether a supplementary descriptor is one of Joliet, of any level.
func isJoliet(d []byte) bool {
	return d[88] == '%' && d[89] == '/' && (d[90] == '@' || d[90] == 'C' || d[90] == 'E')
}

// notRaw says of an image of whole CD sectors what it is; else the error.
func notRaw(r io.ReaderAt, err error) error {
	for _, s := range rawSectors {
		if b, rerr := span(r, firstDescriptor*s[0]+s[1]+1, len(standardID)); rerr == nil && string(b) == standardID {
			return protocol.Errorf(protocol.CodeUnsupported, op, "it has raw CD sectors of %d bytes; only %d are read", s[0], sectorSize).
				WithHint("convert it, by bchunk or by ccd2iso")
		}
	}
	return err
}

// notUDF refuses the images whose files are in a UDF file system, and which have for all
// other readers one file that says so: those of Windows.
func (v *volume) notUDF(after uint32) error {
	udf := false
	for n := range uint32(maxDescriptors) {
		d, err := span(v.r, int64(after+n)*sectorSize, 6)
		if err != nil {
			break
		}
		id := string(d[1:6]) // ECMA-167 2/9.1
		udf = udf || strings.HasPrefix(id, "NSR0")
		if id != "BEA01" && !strings.HasPrefix(id, "NSR0") {
			break
		}
	}
	if !udf {
		return nil
	}
	root, err := v.readFolder(v.root)
	if err != nil {
		return err
	}
	if len(root.nodes) == 1 && strings.EqualFold(root.nodes[0].name, "readme.txt") {
		return protocol.Errorf(protocol.CodeUnsupported, op, "its files are in a UDF file system, which is not read").
			WithHint("make an ISO 9660 image of its files: xorriso -as mkisofs -iso-level 3 -R -J")
	}
	return nil
}
