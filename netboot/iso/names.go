package iso

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// maxNameLen bounds a name, in bytes, as Linux does.
const maxNameLen = 255

// plainName is a name of ECMA-119 without its version and a dot that ends it.
func plainName(b []byte) string { return strings.TrimSuffix(unversioned(string(b)), ".") }

// jolietName is a name of Joliet; its dots at the end do not count, as in Windows and Linux.
func jolietName(b []byte) string { return strings.TrimRight(unversioned(fromUCS2(b)), ".") }

// unversioned is a name without ";1", or another number.
func unversioned(name string) string {
	i := strings.LastIndexByte(name, ';')
	if i < 0 || strings.Trim(name[i+1:], "0123456789") != "" {
		return name
	}
	return name[:i]
}

func fromUCS2(b []byte) string {
	u := make([]uint16, 0, len(b)/2)
	for ; len(b) >= 2; b = b[2:] {
		u = append(u, binary.BigEndian.Uint16(b))
	}
	return string(utf16.Decode(u))
}

// clean makes a name that io/fs takes; empty for one that is none.
func clean(name string) string {
	if name == "." || name == ".." {
		return ""
	}
	name = strings.Map(func(c rune) rune { // which makes U+FFFD of what is no UTF-8
		if c == '/' || c == 0 {
			return '_'
		}
		return c
	}, name)
	if len(name) > maxNameLen {
		return strings.ToValidUTF8(name[:maxNameLen], "")
	}
	return name
}
