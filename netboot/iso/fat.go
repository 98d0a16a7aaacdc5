package iso

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
)

// errNotFAT is for an EFI entry whose file system is another, or damaged.
var errNotFAT = errors.New("not a FAT file system")

// A folder is read for as many clusters as hold a few hundred names.
const (
	maxClusters  = 64
	dirEntry     = 32
	attrFolder   = 0x10
	attrVolume   = 0x08 // also of long names
	entryEnd     = 0x00
	entryDeleted = 0xe5
)

// fat is a FAT file system inside an image (Microsoft FAT specification, 3.1 to 3.5).
type fat struct {
	r        io.ReaderAt
	at       int64 // of the file system
	sector   int64
	cluster  int64 // bytes
	table    int64 // offset of the first FAT
	data     int64 // offset of cluster 2
	root     int64 // offset of the root folder, of FAT12 and FAT16
	rootSize int64
	rootAt   uint32 // its first cluster, of FAT32
	bits     int
}

// bootFolder are the names in \EFI\BOOT of the file system at an offset.
func bootFolder(r io.ReaderAt, at int64) (names []string, err error) {
	f, err := openFAT(r, at)
	if err != nil {
		return nil, err
	}
	dir, err := f.rootFolder()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"EFI", "BOOT"} {
		first, ok := uint32(0), false
		for n, e := range entriesOf(dir) {
			if n == name && e[11]&attrFolder != 0 {
				first, ok = uint32(binary.LittleEndian.Uint16(e[26:]))|uint32(binary.LittleEndian.Uint16(e[20:]))<<16, true
			}
		}
		if !ok {
			return nil, nil
		}
		if dir, err = f.chain(first); err != nil {
			return nil, err
		}
	}
	for n, e := range entriesOf(dir) {
		if e[11]&attrFolder == 0 {
			names = append(names, n)
		}
	}
	return names, nil
}

func openFAT(r io.ReaderAt, at int64) (*fat, error) {
	b, err := span(r, at, 512)
	if err != nil {
		return nil, err
	}
	u16 := func(off int) int64 { return int64(binary.LittleEndian.Uint16(b[off:])) }
	u32 := func(off int) int64 { return int64(binary.LittleEndian.Uint32(b[off:])) }
	f := &fat{r: r, at: at, sector: u16(11), bits: 16}
	per, reserved, fats, rootEntries := int64(b[13]), u16(14), int64(b[16]), u16(17)
	power := func(n, most int64) bool { return n > 0 && n <= most && n&(n-1) == 0 }
	if b[510] != 0x55 || b[511] != 0xaa || f.sector < 512 || !power(f.sector, 4096) || !power(per, 128) || reserved == 0 || fats == 0 || fats > 2 {
		return nil, errNotFAT
	}
	size, total := u16(22), u16(19)
	if size == 0 {
		size = u32(36)
	}
	if total == 0 {
		total = u32(32)
	}
	f.cluster, f.table = per*f.sector, reserved*f.sector
	f.root = f.table + fats*size*f.sector
	f.rootSize = rootEntries * dirEntry
	f.data = f.root + (f.rootSize+f.sector-1)/f.sector*f.sector
	switch clusters := (total*f.sector - f.data) / f.cluster; {
	case size == 0 || clusters <= 0:
		return nil, errNotFAT
	case clusters < 4085:
		f.bits = 12
	case clusters >= 65525:
		f.bits, f.rootAt = 32, uint32(u32(44))
	}
	return f, nil
}

func (f *fat) rootFolder() ([]byte, error) {
	if f.bits == 32 {
		return f.chain(f.rootAt)
	}
	return span(f.r, f.at+f.root, int(f.rootSize))
}

// chain reads the clusters of a folder.
func (f *fat) chain(cluster uint32) (out []byte, err error) {
	end := map[int]uint32{12: 0xff8, 16: 0xfff8, 32: 0x0ffffff8}[f.bits]
	for range maxClusters {
		if cluster < 2 || cluster >= end {
			return out, nil
		}
		b, err := span(f.r, f.at+f.data+int64(cluster-2)*f.cluster, int(f.cluster))
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
		if cluster, err = f.next(cluster); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// next is the cluster after one.
func (f *fat) next(cluster uint32) (uint32, error) {
	switch f.bits {
	case 12:
		b, err := span(f.r, f.at+f.table+int64(cluster)+int64(cluster)/2, 2)
		if err != nil {
			return 0, err
		}
		v := uint32(binary.LittleEndian.Uint16(b))
		if cluster&1 == 1 {
			return v >> 4, nil
		}
		return v & 0xfff, nil
	case 16:
		b, err := span(f.r, f.at+f.table+2*int64(cluster), 2)
		if err != nil {
			return 0, err
		}
		return uint32(binary.LittleEndian.Uint16(b)), nil
	}
	b, err := span(f.r, f.at+f.table+4*int64(cluster), 4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b) & 0x0fffffff, nil
}

// entriesOf are the files and folders in a folder, by their short names.
func entriesOf(dir []byte) func(yield func(string, []byte) bool) {
	return func(yield func(string, []byte) bool) {
		for ; len(dir) >= dirEntry && dir[0] != entryEnd; dir = dir[dirEntry:] {
			e := dir[:dirEntry]
			if e[0] == entryDeleted || e[11]&attrVolume != 0 {
				continue
			}
			name := strings.TrimRight(string(e[:8]), " ")
			if ext := strings.TrimRight(string(e[8:11]), " "); ext != "" {
				name += "." + ext
			}
			if !yield(name, e) {
				return
			}
		}
	}
}
