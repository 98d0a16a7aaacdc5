package mirror

import (
	"strconv"
	"strings"
)

// contentRange reads "bytes first-last/size" (RFC 9110 section 14.4). A range whose size
// is unknown, or that is not within it, is none.
func contentRange(v string) (first, last, size int64, ok bool) {
	unit, rest, ok := strings.Cut(v, " ")
	if !ok || !strings.EqualFold(unit, "bytes") {
		return 0, 0, 0, false
	}
	span, total, ok := strings.Cut(strings.TrimSpace(rest), "/")
	if !ok {
		return 0, 0, 0, false
	}
	from, to, ok := strings.Cut(span, "-")
	if !ok {
		return 0, 0, 0, false
	}
	var okFirst, okLast, okSize bool
	first, okFirst = decimal(from)
	last, okLast = decimal(to)
	size, okSize = decimal(total)
	if !okFirst || !okLast || !okSize {
		return 0, 0, 0, false
	}
	if last < first || size <= last {
		return 0, 0, 0, false
	}
	return first, last, size, true
}

// decimal reads 1*DIGIT; ParseInt would also take a sign.
func decimal(text string) (int64, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}
