package eventlog

import (
	"encoding/binary"
	"fmt"
	"unicode/utf16"
)

// GUID is an EFI GUID as it is in memory: the first three fields little-endian.
type GUID [16]byte

// String is the usual text form.
func (g GUID) String() string {
	return fmt.Sprintf("%08x-%04x-%04x-%x-%x",
		binary.LittleEndian.Uint32(g[0:4]), binary.LittleEndian.Uint16(g[4:6]), binary.LittleEndian.Uint16(g[6:8]), g[8:10], g[10:16])
}

// GlobalVariable is EFI_GLOBAL_VARIABLE, 8be4df61-93ca-11d2-aa0d-00e098032b8c: the owner of
// SecureBoot, PK, KEK and BootOrder (UEFI 2.10 section 3.3).
func GlobalVariable() GUID {
	return GUID{0x61, 0xdf, 0xe4, 0x8b, 0xca, 0x93, 0xd2, 0x11, 0xaa, 0x0d, 0x00, 0xe0, 0x98, 0x03, 0x2b, 0x8c}
}

// Variable is a UEFI_VARIABLE_DATA (PFP 1.06 section 10.2.6).
type Variable struct {
	Owner GUID
	Name  string
	Value []byte
}

// maxVariableName is in characters.
const maxVariableName = 256

// ParseVariable reads the data of an event of a variable; ok is that it is one, to its last byte.
func ParseVariable(data []byte) (v Variable, ok bool) {
	c := &cursor{rest: data}
	copy(v.Owner[:], c.bytes(len(v.Owner)))
	name, size := c.uint64(), c.uint64()
	if c.short || name > maxVariableName {
		return Variable{}, false
	}
	wide := make([]uint16, name)
	for i := range wide {
		wide[i] = c.uint16()
	}
	if c.short || size != uint64(len(c.rest)) {
		return Variable{}, false
	}
	v.Name, v.Value = string(utf16.Decode(wide)), c.rest
	return v, true
}

// BootOption is an EFI_LOAD_OPTION, the value of a variable Boot#### (UEFI 2.10 section 3.1.3).
type BootOption struct {
	Active      bool
	Description string
	Path        []byte // device paths
	Optional    []byte // passed to what is loaded
}

// ParseBootOption reads the value of a variable Boot####.
func ParseBootOption(value []byte) (o BootOption, ok bool) {
	c := &cursor{rest: value}
	attributes, size := c.uint32(), int(c.uint16())
	var wide []uint16
	for {
		w := c.uint16()
		if c.short || len(wide) > maxVariableName {
			return BootOption{}, false
		}
		if w == 0 {
			break
		}
		wide = append(wide, w)
	}
	o = BootOption{Active: attributes&1 != 0, Description: string(utf16.Decode(wide)), Path: c.bytes(size)}
	o.Optional = c.rest
	return o, !c.short
}
