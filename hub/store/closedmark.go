package store

import (
	"bytes"
	"strconv"
)

// closedMark begins the mark, which is the last member of what is stored: the revision that was
// closed.
const closedMark = `,"closed":`

// closedOver is the revision that the mark in a stored resource was set over; 0 without a mark.
func closedOver(value []byte) uint64 {
	inner, ok := bytes.CutSuffix(value, []byte("}"))
	if !ok {
		return 0
	}
	digits := len(inner)
	for digits > 0 && inner[digits-1] >= '0' && inner[digits-1] <= '9' {
		digits--
	}
	if !bytes.HasSuffix(inner[:digits], []byte(closedMark)) {
		return 0
	}
	revision, err := strconv.ParseUint(string(inner[digits:]), 10, 64)
	if err != nil {
		return 0
	}
	return revision
}

func withMark(value []byte, revision uint64) []byte {
	out := append(bytes.Clone(bytes.TrimSuffix(value, []byte("}"))), closedMark...)
	return append(strconv.AppendUint(out, revision, 10), '}')
}

func withoutMark(value []byte) []byte {
	if closedOver(value) == 0 {
		return value
	}
	return append(bytes.Clone(value[:bytes.LastIndex(value, []byte(closedMark))]), '}')
}
