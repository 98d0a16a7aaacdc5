package resource

import (
	"strconv"
	"strings"
)

// Share is so many of something: a count such as 5, or percent such as 25%.
type Share string

// Of is the share of n, rounded down; ok is false for a share that is none, which is then
// nothing of it. It may be more than n.
func (s Share) Of(n int) (of int, ok bool) {
	text, percent := strings.CutSuffix(string(s), "%")
	v, err := strconv.ParseUint(text, 10, 16)
	switch {
	case err != nil || percent && v > 100:
		return 0, false
	case percent:
		return int(v) * n / 100, true
	}
	return int(v), true
}

// UnmarshalJSON reads a string or a number.
func (s *Share) UnmarshalJSON(b []byte) error {
	*s = Share(strings.Trim(string(b), `"`))
	return nil
}

func (s Share) check(f *fields, path string) {
	if v, ok := s.Of(100); !ok || v == 0 {
		f.Add(path, "%q is not a count such as 5 or percent such as 25%%, of at least 1", string(s))
	}
}
