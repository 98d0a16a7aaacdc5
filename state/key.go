package state

import (
	"strings"

	"rackboot/protocol"
)

// maxKey bounds a key in bytes: it is in every message.
const maxKey = 512

// keyRune reports whether r may stand in a level of a key.
func keyRune(r rune) bool {
	return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '=' || r == '-'
}

// CheckKey refuses what is not levels of [A-Za-z0-9_=-] joined by dots, and what is longer than
// 512 bytes. Every KV calls it: it keeps wildcards and empty levels out of subjects.
func CheckKey(op, key string) error {
	if len(key) > maxKey {
		return protocol.Errorf(protocol.CodeInvalid, op, "key of %d bytes; the limit is %d", len(key), maxKey)
	}
	for level := range strings.SplitSeq(key, ".") {
		if level == "" || strings.ContainsFunc(level, func(r rune) bool { return !keyRune(r) }) {
			return protocol.Errorf(protocol.CodeInvalid, op, "key %q is not levels of [A-Za-z0-9_=-] joined by dots", key)
		}
	}
	return nil
}

// CheckPrefix accepts "" and a key followed by a dot.
func CheckPrefix(op, prefix string) error {
	if prefix == "" {
		return nil
	}
	key, ok := strings.CutSuffix(prefix, ".")
	if !ok {
		return protocol.Errorf(protocol.CodeInvalid, op, "prefix %q does not end in a dot", prefix)
	}
	return CheckKey(op, key)
}
