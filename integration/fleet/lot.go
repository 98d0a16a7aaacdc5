package fleet

import (
	"cmp"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"rackboot/protocol"
)

// Share is a part of the racks, servers or boots.
type Share struct {
	Percent float64 // 0 to 100
	Count   int     // in place of Percent, where it is above 0
}

// parseShare reads 10% or 3.
func parseShare(text string) (s Share, err error) {
	number, percent := strings.CutSuffix(text, "%")
	if percent {
		s.Percent, err = strconv.ParseFloat(number, 64)
	} else {
		s.Count, err = strconv.Atoi(number)
	}
	if err != nil || math.IsNaN(s.Percent) || s.Percent < 0 || s.Percent > 100 || s.Count < 0 || s.Count > MaxRacks {
		return Share{}, protocol.Errorf(protocol.CodeInvalid, "read a share", "%q is not 0%% to 100%%, or 0 to %d", text, MaxRacks)
	}
	return s, nil
}

// String is the share as a script has it.
func (s Share) String() string {
	if s.Count > 0 {
		return strconv.Itoa(s.Count)
	}
	return strconv.FormatFloat(s.Percent, 'g', -1, 64) + "%"
}

// of is how many of all it is, rounded up.
func (s Share) of(all int) int {
	if s.Count > 0 {
		return min(s.Count, all)
	}
	return min(all, int(math.Ceil(s.Percent*float64(all)/100)))
}

// lot is a number from 0 to below 1 that the seed and the words decide, and nothing else: neither the order in
// which agents come to draw, nor how often.
func lot(seed uint64, words ...string) float64 {
	h := fnv.New64a()
	_, _ = h.Write(strconv.AppendUint(nil, seed, 16)) // never fails
	for _, w := range words {
		_, _ = h.Write(append([]byte{0}, w...))
	}
	x := h.Sum64() // whose high bits hardly differ for words that hardly do
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11) / (1 << 53)
}

// drawn are n of the names, or all, in the order of their lots.
func drawn(seed uint64, what string, n int, names []string) []string {
	out := slices.Clone(names)
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(lot(seed, what, a), lot(seed, what, b)), cmp.Compare(a, b))
	})
	return out[:min(n, len(out))]
}
