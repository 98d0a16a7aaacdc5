package tftp

import (
	"strings"

	"rackboot/netboot"
)

// maxName is the longest name: DHCP option 67 holds no more.
const maxName = 255

// target is what a name means.
type target struct {
	token string // empty for a fixed name, which is bound to the client's address
	file  string
}

// parseName reads the name of a request. Firmware sends `\dir\boot.efi`, leading
// and doubled slashes, and, where DHCP option 67 came without NUL, the byte 0xff
// or the tag of the next option behind the name (old Intel UNDI, Lenovo, Gigabyte,
// Kontron). Control bytes and those of 0x80 and more are taken off the end; within
// the name they make it garbage, such as shim 15.8 asks for on Dell and Lenovo
// (the byte 0xea and "onboard"). ".." leads nowhere, it is not resolved.
func parseName(raw string) (target, bool) {
	if len(raw) > maxName {
		return target{}, false
	}
	s := strings.TrimRightFunc(asLatin1(raw), odd)
	if strings.ContainsFunc(s, odd) {
		return target{}, false
	}
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '\\' })
	kept := parts[:0]
	for _, part := range parts {
		switch part {
		case "..":
			return target{}, false
		case ".":
		default:
			kept = append(kept, part)
		}
	}
	if len(kept) == 0 {
		return target{}, false
	}
	if "/"+kept[0]+"/" != netboot.PathPrefix {
		return target{file: strings.Join(kept, "/")}, true
	}
	if len(kept) < 3 || kept[1] == netboot.RefusedToken {
		return target{}, false
	}
	return target{token: kept[1], file: strings.Join(kept[2:], "/")}, true
}

// asLatin1 makes each byte a rune of its own: a name is bytes, not UTF-8.
func asLatin1(s string) string {
	r := make([]rune, len(s))
	for i := range len(s) {
		r[i] = rune(s[i])
	}
	return string(r)
}

// odd bytes are in no name of ours.
func odd(r rune) bool { return r < 0x20 || r >= 0x7f }
