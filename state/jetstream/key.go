package jetstream

import (
	"strings"

	"rackboot/protocol"
)

// maxKey bounds a key in bytes; the subject is in every message.
const maxKey = 512

// keyRune reports whether r may stand in a level of a key.
func keyRune(r rune) bool {
	return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '=' || r == '-'
}

// checkKey refuses what is not levels of [A-Za-z0-9_=-] joined by dots. It
// keeps NATS wildcards (* and >) and empty levels out of subjects.
func checkKey(op, key string) error {
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

// checkPrefix accepts "" and a key followed by a dot.
func checkPrefix(op, prefix string) error {
	if prefix == "" {
		return nil
	}
	key, ok := strings.CutSuffix(prefix, ".")
	if !ok {
		return protocol.Errorf(protocol.CodeInvalid, op, "prefix %q does not end in a dot", prefix)
	}
	return checkKey(op, key)
}
