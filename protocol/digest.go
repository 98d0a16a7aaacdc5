package protocol

import (
	"encoding/hex"
	"strings"
)

// ValidDigest says whether s is sha256:<64 hex digits>, in lower case.
func ValidDigest(s string) bool { return ValidFingerprint(s) && s == strings.ToLower(s) }

// ValidFingerprint says whether s is sha256:<64 hex digits>, in any case.
func ValidFingerprint(s string) bool {
	digits, ok := strings.CutPrefix(s, "sha256:")
	raw, err := hex.DecodeString(digits)
	return ok && err == nil && len(raw) == 32
}
