package blob

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"rackboot/state/file"
)

// A mark is the file part-<hex>.sum: how many bytes of the part are known to be on disk,
// in decimal, a space, what they hash to in hex digits, and a line feed. It is replaced as
// a whole. One of the past is good too: a part only grows.

// maxMark bounds a mark in bytes.
const maxMark = 20 + 1 + hexLen + 1

// readMark is the mark of a part; false if there is none that can be read.
func (s *Store) readMark(name string) (at int64, sum string, ok bool) {
	raw, err := os.ReadFile(s.path(partPrefix + name + sumSuffix))
	if err != nil {
		return 0, "", false
	}
	return parseMark(raw)
}

func parseMark(raw []byte) (at int64, sum string, ok bool) {
	if len(raw) > maxMark {
		return 0, "", false
	}
	if _, err := fmt.Sscanf(string(raw), "%d %s\n", &at, &sum); err != nil || at < 0 || !isName(sum) || formatMark(at, sum) != string(raw) {
		return 0, "", false
	}
	return at, sum, true
}

func formatMark(at int64, sum string) string { return fmt.Sprintf("%d %s\n", at, sum) }

func (s *Store) writeMark(name string, at int64, sum string) error {
	return file.Replace(s.path(partPrefix+name+sumSuffix), []byte(formatMark(at, sum)), 0o600)
}

func (s *Store) removeMark(name string) error {
	err := os.Remove(s.path(partPrefix + name + sumSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
