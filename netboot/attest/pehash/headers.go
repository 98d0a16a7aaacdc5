package pehash

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"rackboot/protocol"
)

// Numbers of PE images (Microsoft PE and COFF specification).
const (
	dosSize       = 0x40
	offsetOfPE    = 0x3c // e_lfanew, in the DOS header
	peSignature   = "PE\x00\x00"
	coffSize      = 20
	sectionSize   = 40
	magicPE32     = 0x10b
	magicPE32Plus = 0x20b

	// In the optional header.
	offsetOfHeaders  = 60 // SizeOfHeaders
	offsetOfChecksum = 64
	checksumSize     = 4
	directoriesPE32  = 92 // NumberOfRvaAndSizes, which the directories follow
	directoriesPlus  = 108
	certificates     = 4 // the directory of the certificate table
	directorySize    = 8

	maxSections = 96 // what Windows' loader takes
	maxHeaders  = 1 << 20
)

// headers are what the hash needs of an image's headers.
type headers struct {
	raw          []byte // the first SizeOfHeaders bytes of the file
	checksum     int    // where the field is
	directory    int    // where the certificate table's entry is; 0 without one
	certificates int64  // bytes of the certificate table, at the file's end
	sections     []section
}

// section is a row of the section table.
type section struct {
	name           string
	virtualSize    int64 // in memory
	offset, length int64 // in the file
}

// readHeaders reads the headers of an image of size bytes. The error has the code invalid,
// or is that of the reader.
func readHeaders(r io.ReaderAt, size int64) (*headers, error) {
	head := make([]byte, min(size, 4096))
	if err := readFull(r, head, 0); err != nil {
		return nil, err
	}
	h, err := parseHeaders(head, size)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalid, "hash image", "the image %w", err)
	}
	if len(h.raw) > len(head) {
		if err := readFull(r, h.raw, 0); err != nil {
			return nil, err
		}
	} else {
		copy(h.raw, head)
	}
	return h, nil
}

func readFull(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read image: %w", err)
}

// parseHeaders reads the beginning of an image. Errors are words that follow "the image".
func parseHeaders(head []byte, size int64) (*headers, error) {
	le := binary.LittleEndian
	if len(head) < dosSize || !bytes.HasPrefix(head, []byte("MZ")) {
		return nil, fmt.Errorf("is no PE image")
	}
	at := int64(le.Uint32(head[offsetOfPE:]))
	if at+int64(len(peSignature))+coffSize > int64(len(head)) || !bytes.HasPrefix(head[at:], []byte(peSignature)) {
		return nil, fmt.Errorf("has no PE header in its first %d bytes", len(head))
	}
	coff := int(at) + len(peSignature)
	count, optional := int(le.Uint16(head[coff+2:])), int(le.Uint16(head[coff+16:]))
	opt := coff + coffSize
	table := opt + optional
	if count > maxSections {
		return nil, fmt.Errorf("has %d sections; more than %d are not read", count, maxSections)
	}
	if table+count*sectionSize > len(head) {
		return nil, fmt.Errorf("has its section table beyond the first %d bytes", len(head))
	}
	directories := directoriesPlus
	switch {
	case optional < offsetOfChecksum+checksumSize:
		return nil, fmt.Errorf("has an optional header of %d bytes", optional)
	case le.Uint16(head[opt:]) == magicPE32:
		directories = directoriesPE32
	case le.Uint16(head[opt:]) != magicPE32Plus:
		return nil, fmt.Errorf("is neither PE32 nor PE32+")
	}
	h := &headers{checksum: opt + offsetOfChecksum}
	length := int64(le.Uint32(head[opt+offsetOfHeaders:]))
	if length < int64(table+count*sectionSize) || length > min(size, maxHeaders) {
		return nil, fmt.Errorf("has headers of %d bytes", length)
	}
	h.raw = make([]byte, length)
	if optional >= directories+4 && le.Uint32(head[opt+directories:]) > certificates {
		entry := directories + 4 + certificates*directorySize
		if optional < entry+directorySize {
			return nil, fmt.Errorf("has its directories beyond its optional header")
		}
		h.directory = opt + entry
		h.certificates = int64(le.Uint32(head[h.directory+4:]))
	}
	for row := head[table:]; len(h.sections) < count; row = row[sectionSize:] {
		h.sections = append(h.sections, section{
			name:        string(bytes.TrimRight(row[:8], "\x00")),
			virtualSize: int64(le.Uint32(row[8:])),
			length:      int64(le.Uint32(row[16:])),
			offset:      int64(le.Uint32(row[20:])),
		})
	}
	return h, h.check(size)
}

// check says whether everything is in the file and nothing is hashed twice.
func (h *headers) check(size int64) error {
	sum := int64(len(h.raw)) + h.certificates
	for _, s := range h.sections {
		if s.length == 0 {
			continue
		}
		if s.offset+s.length > size {
			return fmt.Errorf("is cut off: section %q ends at byte %d of %d", s.name, s.offset+s.length, size)
		}
		sum += s.length
	}
	if sum > size {
		return fmt.Errorf("has %d bytes, and headers, sections and certificates of %d", size, sum)
	}
	return nil
}

// inFile are the sections with data, in the order of the file.
func (h *headers) inFile() []section {
	out := slices.DeleteFunc(slices.Clone(h.sections), func(s section) bool { return s.length == 0 })
	slices.SortStableFunc(out, func(a, b section) int { return int(a.offset - b.offset) })
	return out
}
