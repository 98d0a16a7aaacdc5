package eventlog

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Words before what GRUB measures into PCR 8 (GRUB, commands/tpm.c). They are in the data
// and not in the digest: a command that reads like a command line has its digest.
const (
	grubCommand = "grub_cmd: "
	grubKernel  = "kernel_cmdline: "
	grubModule  = "module_cmdline: "
)

// loaderTexts are the parts of a loader's data that its digest may be of: GRUB's text
// without the word before it and the NUL behind it, and systemd-stub's name of a section,
// in ASCII with a NUL, which the data has in UTF-16.
func loaderTexts(data []byte) [][]byte {
	text := bytes.TrimSuffix(data, []byte{0})
	out := [][]byte{text}
	for _, word := range []string{grubCommand, grubKernel, grubModule} {
		if rest, ok := bytes.CutPrefix(text, []byte(word)); ok {
			out = append(out, rest)
		}
	}
	if wide, ok := wideText(data); ok && isASCII(wide) {
		out = append(out, append([]byte(wide), 0))
	}
	return out
}

// shown bounds a text of a log, in characters.
const shown = 256

// Text is the event's data as a text, for people: of a variable its name, of an image its
// device path, of a loader what it wrote. It is a claim of the machine; what cannot be printed
// is replaced, and it is cut after 256 characters.
func (e Event) Text() string {
	switch e.Type {
	case EFIVariableDriverConfig, EFIVariableBoot, EFIVariableBoot2, EFIVariableAuthority, EFISPDMDevicePolicy, EFISPDMDeviceAuthority:
		if v, ok := ParseVariable(e.Data); ok {
			return clean(v.Name)
		}
	case EFIBootServicesApplication, EFIBootServicesDriver, EFIRuntimeServicesDriver:
		if i, ok := ParseImage(e.Data); ok {
			return clean(PathText(i.Path))
		}
	case EventTag:
		if tag, ok := parseTag(e.Data); ok {
			return clean(tag)
		}
	default:
	}
	if wide, ok := wideText(e.Data); ok {
		return clean(wide)
	}
	return clean(string(bytes.TrimRight(e.Data, "\x00")))
}

// parseTag reads a TCG_PCClientTaggedEvent, with which Linux's EFI stub names the initrd and
// the load options that it measured into PCR 9.
func parseTag(data []byte) (text string, ok bool) {
	c := &cursor{rest: data}
	c.uint32() // taggedEventID
	text = string(bytes.TrimRight(c.sized(), "\x00"))
	return text, !c.short && len(c.rest) == 0
}

// wideText reads UTF-16 with one NUL, at its end.
func wideText(data []byte) (string, bool) {
	n := len(data) / 2
	if n < 2 || len(data)%2 != 0 {
		return "", false
	}
	wide := make([]uint16, n)
	for i := range wide {
		wide[i] = binary.LittleEndian.Uint16(data[2*i:])
		if (wide[i] == 0) != (i == n-1) {
			return "", false
		}
	}
	return string(utf16.Decode(wide[:n-1])), true
}

func isASCII(s string) bool {
	for _, r := range s {
		if r > unicode.MaxASCII {
			return false
		}
	}
	return true
}

func clean(s string) string {
	n := 0
	return strings.Map(func(r rune) rune {
		if n++; n > shown {
			return -1
		}
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
