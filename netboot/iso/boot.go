package iso

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"

	"rackboot/protocol"
)

// El Torito, version 1.0: the boot record names the sector of the catalogue.
const (
	elTorito     = "EL TORITO SPECIFICATION"
	catalogueAt  = 0x47
	entrySize    = 32
	platformEFI  = 0xef
	bootable     = 0x88
	headerMore   = 0x90
	headerLast   = 0x91
	maxCatalogue = 4 * sectorSize
)

// loaders are the names of the removable media path (UEFI specification 2.10, table
// 3.6) by architecture in Go's words.
var loaders = map[string]string{"amd64": "BOOTX64.EFI", "arm64": "BOOTAA64.EFI"}

// Check says whether UEFI firmware of an architecture boots the image from a CD drive: a
// primary volume descriptor, an El Torito catalogue with an EFI entry, and in that entry's
// FAT file system the loader of the architecture. What cannot be told, because the reader
// has not all of the image or the file system is not FAT, is let pass. All other errors of
// Check's own are invalid.
func Check(r io.ReaderAt, architecture string) error {
	err := check(r, architecture)
	if errors.Is(err, ErrBeyond) {
		return nil
	}
	return err
}

func unbootable(format string, args ...any) error {
	return protocol.Errorf(protocol.CodeInvalid, op, format, args...).
		WithHint("build the image with xorriso or mkisofs, with an EFI system partition as El Torito image (-e efi.img -no-emul-boot)")
}

func check(r io.ReaderAt, architecture string) error {
	at := uint32(0)
	err := descriptors(r, func(kind byte, d []byte) bool {
		if kind == typeBoot && strings.TrimRight(string(d[7:39]), "\x00 ") == elTorito {
			at = le32(d[catalogueAt:])
		}
		return at != 0
	})
	if err != nil {
		return err
	}
	if at == 0 {
		return unbootable("it has no El Torito boot catalogue: no firmware boots it from a CD drive")
	}
	entries, err := catalogue(r, at)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return unbootable("its boot catalogue has no EFI entry: UEFI firmware does not boot it")
	}
	want := loaders[architecture]
	var have []string
	for _, e := range entries {
		names, err := bootFolder(r, int64(e)*sectorSize)
		switch {
		case errors.Is(err, errNotFAT):
			return nil // not to be told
		case err != nil:
			return err
		case want == "" || slices.Contains(names, want):
			return nil
		}
		have = append(have, names...)
	}
	text := "nothing"
	if len(have) > 0 {
		text = strings.Join(have, ", ")
	}
	return unbootable(`firmware of %s starts \EFI\BOOT\%s, and its EFI entry has %s there`, architecture, want, text)
}

// catalogue are the sectors of the EFI entries.
func catalogue(r io.ReaderAt, at uint32) (entries []uint32, err error) {
	c, err := sector(r, at)
	if err != nil {
		return nil, err
	}
	sum := uint16(0)
	for i := 0; i < entrySize; i += 2 {
		sum += binary.LittleEndian.Uint16(c[i:])
	}
	if c[0] != 1 || c[30] != 0x55 || c[31] != 0xaa || sum != 0 {
		return nil, unbootable("its boot catalogue, sector %d, does not begin with a validation entry", at)
	}
	take := func(platform byte, e []byte) {
		if platform == platformEFI && e[0] == bootable {
			entries = append(entries, le32(e[8:]))
		}
	}
	take(c[1], c[entrySize:])
	for off := 2 * entrySize; off+entrySize <= len(c); {
		head := c[off : off+entrySize]
		if head[0] != headerMore && head[0] != headerLast {
			break
		}
		off += entrySize
		for range binary.LittleEndian.Uint16(head[2:]) {
			if off+entrySize > len(c) {
				if len(c) >= maxCatalogue {
					return entries, nil
				}
				more, err := sector(r, at+uint32(len(c)/sectorSize))
				if err != nil {
					return entries, err
				}
				c = append(c, more...)
			}
			take(head[1], c[off:])
			off += entrySize
		}
		if head[0] == headerLast {
			break
		}
	}
	return entries, nil
}
