package pehash_test

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// part is a section of an image that is made here.
type part struct {
	name    string
	data    []byte
	virtual int // bytes in memory; 0: as many as in the file
}

// Places in the images that are made here.
const (
	peAt       = 0x40
	optionalAt = peAt + 24
	plusSize   = 240
	smallSize  = 224 // of the optional header of PE32
	alignment  = 64
)

// image makes a PE image with a certificate table at its end.
func image(plus bool, certificates []byte, parts ...part) []byte {
	le := binary.LittleEndian
	optional, magic, directories := plusSize, 0x20b, 108
	if !plus {
		optional, magic, directories = smallSize, 0x10b, 92
	}
	table := optionalAt + optional
	headers := (table + 40*len(parts) + alignment - 1) / alignment * alignment
	out := make([]byte, headers)
	copy(out, "MZ")
	le.PutUint32(out[0x3c:], peAt)
	copy(out[peAt:], "PE\x00\x00")
	le.PutUint16(out[peAt+6:], uint16(len(parts)))
	le.PutUint16(out[peAt+20:], uint16(optional))
	le.PutUint16(out[optionalAt:], uint16(magic))
	le.PutUint32(out[optionalAt+60:], uint32(headers))
	le.PutUint32(out[optionalAt+64:], 0xdeadbeef) // the checksum
	le.PutUint32(out[optionalAt+directories:], 16)
	for i, p := range parts {
		row := out[table+40*i:]
		copy(row[:8], p.name)
		le.PutUint32(row[8:], uint32(p.virtual))
		if p.virtual == 0 {
			le.PutUint32(row[8:], uint32(len(p.data)))
		}
		le.PutUint32(row[16:], uint32(len(p.data)))
		le.PutUint32(row[20:], uint32(len(out)))
		out = append(out, p.data...)
	}
	if certificates != nil {
		le.PutUint32(out[optionalAt+directories+4+4*8:], uint32(len(out)))
		le.PutUint32(out[optionalAt+directories+4+4*8+4:], uint32(len(certificates)))
		out = append(out, certificates...)
	}
	return out
}

// hashed is what of an image's bytes Authenticode hashes, cut out of them.
func hashed(raw []byte, plus bool, certificates int) []byte {
	directories := 108
	if !plus {
		directories = 92
	}
	entry := optionalAt + directories + 4 + 4*8
	return slices.Concat(raw[:optionalAt+64], raw[optionalAt+68:entry], raw[entry+8:len(raw)-certificates])
}

// stub is a section in which systemd-stub says its version.
func stub(version string) part {
	return part{name: ".sdmagic", data: []byte("#### LoaderInfo: systemd-stub " + version + " ####\x00")}
}

// counting is an image that counts what is read of it.
type counting struct {
	*bytes.Reader
	read int64
}

func (c *counting) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.Reader.ReadAt(b, at)
	c.read += int64(n)
	return n, err
}
