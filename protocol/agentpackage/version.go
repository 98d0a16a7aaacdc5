package agentpackage

import (
	"cmp"
	"strconv"
	"strings"
)

// version is a release by its numbers, and what it is before: 1.4.0-rc.1 comes before 1.4.0.
type version struct {
	numbers [3]int
	before  []string
}

// parseVersion reads a version as Semantic Versioning 2.0.0 has it, with or without a v in front; what is behind a +
// says nothing of the order.
func parseVersion(s string) (v version, ok bool) {
	s, build, built := strings.Cut(strings.TrimPrefix(s, "v"), "+")
	numbers, before, early := strings.Cut(s, "-")
	parts := strings.Split(numbers, ".")
	if len(parts) != len(v.numbers) || built && !validIdentifiers(build) || early && !validIdentifiers(before) {
		return version{}, false
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 31)
		if err != nil || strconv.FormatUint(n, 10) != p {
			return version{}, false
		}
		v.numbers[i] = int(n)
	}
	if early {
		v.before = strings.Split(before, ".")
	}
	return v, true
}

// validIdentifiers reports whether each part between dots has letters, digits and hyphens only.
func validIdentifiers(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if part == "" || strings.Trim(part, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
			return false
		}
	}
	return true
}

func validVersion(s string) bool {
	_, ok := parseVersion(s)
	return ok
}

// Compare orders versions as [Semantic Versioning 2.0.0 §11] does: negative where a comes before b. ok is false where one
// of them is no version.
//
// [Semantic Versioning 2.0.0 §11]: https://semver.org/#spec-item-11
func Compare(a, b string) (order int, ok bool) {
	x, okX := parseVersion(a)
	y, okY := parseVersion(b)
	if !okX || !okY {
		return 0, false
	}
	for i := range x.numbers {
		if c := cmp.Compare(x.numbers[i], y.numbers[i]); c != 0 {
			return c, true
		}
	}
	switch {
	case len(x.before) == 0 || len(y.before) == 0:
		return cmp.Compare(len(y.before), len(x.before)), true // a release comes after all that is before it
	}
	for i := range min(len(x.before), len(y.before)) {
		if c := compareIdentifier(x.before[i], y.before[i]); c != 0 {
			return c, true
		}
	}
	return cmp.Compare(len(x.before), len(y.before)), true
}

// compareIdentifier orders numbers by their value and before words.
func compareIdentifier(a, b string) int {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	switch {
	case errX == nil && errY == nil:
		return cmp.Compare(x, y)
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return strings.Compare(a, b)
}
