package isotest

import (
	"encoding/binary"
	"strings"
	"time"

	"rackboot/netboot/iso"
)

const (
	attrFolder = 0x10
	attrVolume = 0x08
)

// Image is a CD image with an El Torito catalogue.
type Image struct {
	Record, Catalogue, FAT []byte
}

// Where what is in an image: sectors of Sector bytes.
const (
	Sector     = 2048
	RecordAt   = 17
	CatalogAt  = 20
	FATAt      = 24
	entrySize  = 32
	recordSize = 0x47 // offset of the catalogue's place
)

// What entries say (El Torito 1.0, figures 2 to 5; UEFI specification, 13.3.2.1).
const (
	Bootable    = 0x88
	PlatformEFI = 0xef
	headerLast  = 0x91
)

// New is an image for BIOS and for UEFI, with a loader in \EFI\BOOT.
func New(loader string) Image {
	i := Image{Record: make([]byte, Sector), Catalogue: make([]byte, Sector), FAT: fat12(loader)}
	copy(i.Record, "\x00CD001\x01EL TORITO SPECIFICATION")
	binary.LittleEndian.PutUint32(i.Record[recordSize:], CatalogAt)
	i.Validation(0)
	i.Entry(1, Bootable, 99) // a BIOS boot first, as xorriso writes it
	copy(i.Catalogue[2*entrySize:], []byte{headerLast, PlatformEFI, 1})
	i.Entry(3, Bootable, FATAt)
	return i
}

// Validation writes the first entry, with its checksum.
func (i Image) Validation(platform byte) {
	v := i.Catalogue[:entrySize]
	copy(v, make([]byte, entrySize))
	v[0], v[1], v[30], v[31] = 1, platform, 0x55, 0xaa
	sum := uint16(0)
	for n := 0; n < entrySize; n += 2 {
		sum += binary.LittleEndian.Uint16(v[n:])
	}
	binary.LittleEndian.PutUint16(v[28:], -sum)
}

// Entry writes one of the entries.
func (i Image) Entry(n int, boot byte, at uint32) {
	e := i.Catalogue[n*entrySize:]
	e[0] = boot
	binary.LittleEndian.PutUint32(e[8:], at)
}

// Bytes is the whole image, with something behind it.
func (i Image) Bytes(payload ...byte) []byte {
	out, err := iso.Write("BOOT", nil, time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC))
	if err != nil {
		panic(err)
	}
	out = append(out, make([]byte, (FATAt+len(i.FAT)/Sector+1)*Sector-len(out))...)
	copy(out[RecordAt*Sector:], i.Record)
	copy(out[CatalogAt*Sector:], i.Catalogue)
	copy(out[FATAt*Sector:], i.FAT)
	return append(out, payload...)
}

// fat12 is a FAT12 file system of 512-byte clusters with \EFI\BOOT\loader, whose folder
// BOOT goes on in a second cluster.
func fat12(loader string) []byte {
	b := make([]byte, 64*512)
	binary.LittleEndian.PutUint16(b[11:], 512)
	b[13], b[14], b[16], b[17], b[22] = 1, 1, 1, 16, 1 // cluster, reserved, tables, root entries, table size
	binary.LittleEndian.PutUint16(b[19:], 64)
	b[510], b[511] = 0x55, 0xaa
	table, root, data := b[512:], b[1024:], b[1536:]
	copy(table, []byte{0xf8, 0xff, 0xff, 0xff, 0x4f, 0x00, 0xff, 0x0f, 0x00}) // 2 ends, 3 goes on at 4, which ends
	put := func(dir []byte, n int, name string, attr byte, first uint16) {
		copy(dir[n*entrySize:], name)
		dir[n*entrySize+11] = attr
		binary.LittleEndian.PutUint16(dir[n*entrySize+26:], first)
	}
	put(root, 0, "LABEL      ", attrVolume, 0)
	put(root, 1, "EFI        ", attrFolder, 2)
	put(data, 0, "BOOT       ", attrFolder, 3)
	for n := range 16 {
		put(data[512:], n, "\xe5OTHER  TXT", 0, 0)
	}
	base, ext, _ := strings.Cut(loader, ".")
	put(data[1024:], 0, (base + "        ")[:8]+(ext + "   ")[:3], 0, 0)
	return b
}
