package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cell is a text in one line, or a hyphen for none.
func Cell(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
	if s == "" {
		return "-"
	}
	return s
}

// JSON writes the control characters that JSON lets stand (DEL and U+0080 to U+009F)
// as JSON and YAML both can.
func JSON(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for _, r := range string(raw) {
		if r >= 0x7f && r <= 0x9f {
			out = fmt.Appendf(out, "\\u%04x", r)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// Text is a text of many lines without what a terminal would act on but line ends and
// tabs.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}
