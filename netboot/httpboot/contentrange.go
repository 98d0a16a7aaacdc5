package httpboot

import (
	"strconv"
	"strings"
)

// contentRangeStart reads the first position of "bytes a-b/total" (RFC 9110
// section 14.4), the form that http.ServeContent writes.
func contentRangeStart(v string) (int64, bool) {
	v, ok := strings.CutPrefix(v, "bytes ")
	if !ok {
		return 0, false
	}
	first, _, ok := strings.Cut(v, "-")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(first, 10, 64)
	return n, err == nil && n >= 0
}
