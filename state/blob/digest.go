package blob

import (
	"strings"

	"rackboot/protocol"
)

// digestPrefix is the algorithm of the OCI image spec's digest form
// (image-spec descriptor.md, "Digests") that we take.
const digestPrefix = "sha256:"

const hexLen = 64

// parseDigest returns the hex part of "sha256:<64 lower-case hex digits>". It
// becomes a file name, so nothing else may pass.
func parseDigest(op, digest string) (string, error) {
	name, ok := strings.CutPrefix(digest, digestPrefix)
	if !ok || !isName(name) {
		return "", protocol.Errorf(protocol.CodeInvalid, op, "digest %.100q is not sha256: and 64 lower-case hex digits", digest)
	}
	return name, nil
}

// isName reports whether s is the file name of a blob.
func isName(s string) bool {
	return len(s) == hexLen && strings.Trim(s, "0123456789abcdef") == ""
}
