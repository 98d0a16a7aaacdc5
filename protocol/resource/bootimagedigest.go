package resource

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Digest is sha256:… of the entry's spec, as JSON with sorted keys. A stamp counts for
// one digest.
func (b *BootImage) Digest() string {
	raw, err := json.Marshal(b.Spec)
	if err != nil {
		return "" // a spec is strings and maps of them
	}
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}
