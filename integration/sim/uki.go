package sim

import "encoding/binary"

// UKI is a PE image for EFI on amd64 that has the content as its section .linux: what the
// hub takes for a unified kernel image. No firmware runs it.
func UKI(content []byte) []byte {
	const header, lfanew, optional, align = 512, 0x40, 112, 512
	size := (len(content) + align - 1) / align * align
	out := make([]byte, header+size)
	le := binary.LittleEndian
	copy(out, "MZ")
	le.PutUint32(out[0x3c:], lfanew)
	pe := out[lfanew:]
	copy(pe, "PE\x00\x00")
	le.PutUint16(pe[4:], 0x8664) // machine
	le.PutUint16(pe[6:], 1)      // sections
	le.PutUint16(pe[20:], optional)
	le.PutUint16(pe[22:], 0x22)  // executable, large addresses
	le.PutUint16(pe[24:], 0x20b) // PE32+
	le.PutUint16(pe[24+68:], 10) // EFI application
	section := pe[24+optional:]
	copy(section, ".linux")
	le.PutUint32(section[8:], uint32(len(content)))
	le.PutUint32(section[16:], uint32(size))
	le.PutUint32(section[20:], header)
	copy(out[header:], content)
	return out
}
