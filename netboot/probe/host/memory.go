package host

import (
	"strconv"
	"strings"
)

// memory reads MemTotal of /proc/meminfo, in bytes: the memory without what firmware
// and the kernel itself keep. 0 if it is not there.
func memory(text string) uint64 {
	for line := range strings.SplitSeq(text, "\n") {
		value, ok := strings.CutPrefix(line, "MemTotal:")
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 42)
		if err != nil {
			return 0
		}
		return n << 10
	}
	return 0
}
