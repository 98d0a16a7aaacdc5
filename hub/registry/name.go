package registry

import "strings"

// The bounds of the specification, and the length of an upload's id, which is of rand.Text.
const (
	maxName   = 255
	maxTag    = 128
	uploadLen = 26
)

// validName: words of a to z and digits, between which is one of . _ __ or any number of -,
// and slashes between such components (OCI distribution specification, Pulling manifests).
func validName(s string) bool {
	if len(s) > maxName {
		return false
	}
	for component := range strings.SplitSeq(s, "/") {
		if !validComponent(component) {
			return false
		}
	}
	return true
}

func validComponent(s string) bool {
	word := func(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }
	if s == "" || !word(s[0]) || !word(s[len(s)-1]) {
		return false
	}
	for between := range strings.FieldsFuncSeq(s, func(r rune) bool { return r < 128 && word(byte(r)) }) {
		if between != "." && between != "_" && between != "__" && strings.Trim(between, "-") != "" {
			return false
		}
	}
	return true
}

// validTag: letters, digits, _ . and -, of which the last two do not begin it.
func validTag(s string) bool {
	return s != "" && len(s) <= maxTag && s[0] != '.' && s[0] != '-' && only(s, tagLetters)
}

const tagLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

// validUpload is the form of rand.Text.
func validUpload(s string) bool {
	return len(s) == uploadLen && only(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
}

// only reports whether a string has these letters and no others.
func only(s, letters string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune(letters, r) }) < 0
}
