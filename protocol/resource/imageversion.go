package resource

import (
	"cmp"
	"strconv"
	"strings"

	"rackboot/protocol"
)

// ImageVersion is the version of a boot image, as parts that are compared one by one.
type ImageVersion []string

// maxImageVersion bounds a version in bytes.
const maxImageVersion = 64

// ParseImageVersion takes a version apart: letters, digits and . - + ~ _, beginning with a
// digit, such as 9.6.20260101-0 or 42.20260105.3.1. The error is invalid.
func ParseImageVersion(s string) (ImageVersion, error) {
	const op = "read version"
	if s == "" || len(s) > maxImageVersion || s[0] < '0' || s[0] > '9' {
		return nil, protocol.Errorf(protocol.CodeInvalid, op, "%.80q does not begin with a digit, or has more than %d bytes", s, maxImageVersion)
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', strings.IndexByte(".-+~_", c) >= 0:
		default:
			return nil, protocol.Errorf(protocol.CodeInvalid, op, "%.80q has %q in it; use letters, digits and . - + ~ _", s, c)
		}
	}
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(".-+~_", r) }), nil
}

// Compare is -1, 0 or 1. Parts of digits are compared as numbers, a number is before a
// word, and a version before a longer one that begins like it.
func (v ImageVersion) Compare(o ImageVersion) int {
	for i := range min(len(v), len(o)) {
		if c := comparePart(v[i], o[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(v), len(o))
}

func comparePart(a, b string) int {
	x, errA := strconv.ParseUint(a, 10, 64)
	y, errB := strconv.ParseUint(b, 10, 64)
	switch {
	case errA == nil && errB == nil:
		return cmp.Compare(x, y)
	case errA == nil:
		return -1
	case errB == nil:
		return 1
	}
	return cmp.Compare(a, b)
}

// ValidIgnitionVersion says whether s is a stable version of the Ignition specification.
func ValidIgnitionVersion(s string) bool {
	switch s {
	case "2.0.0", "2.1.0", "2.2.0", "2.3.0", "2.4.0", "3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0", "3.5.0", "3.6.0":
		return true
	}
	return false
}
