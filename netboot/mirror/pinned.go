package mirror

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"time"
)

// nests says whether a name is also a folder of another.
func nests(names map[string]bool) bool {
	for name := range names {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if names[dir] {
				return true
			}
		}
	}
	return false
}

// pin is a set of contents by name, as it is on disk.
type pin struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
	Base    string `json:"base"`
	Files   []File `json:"files"`
}

// File is a file that is pinned.
type File struct {
	Name    string    `json:"name"`   // below the base
	Size    int64     `json:"size"`   // bytes
	SHA256  string    `json:"sha256"` // of the content, hex
	ETag    string    `json:"etag,omitempty"`
	ModTime time.Time `json:"modTime"`
	// Stale says that the other side could not be asked whether this is still the file.
	Stale bool `json:"stale,omitempty"`
}

// parsePin reads a pin. It may be damaged.
func parsePin(raw []byte) (pin, error) {
	var p pin
	if err := strict(raw, &p); err != nil {
		return pin{}, err
	}
	if p.Version != sidecarVersion || p.Name == "" || len(p.Files) > maxWants {
		return pin{}, errSidecar
	}
	seen := map[string]bool{}
	for _, f := range p.Files {
		if checkName(f.Name) != nil || f.Name == "." || seen[f.Name] || !isHash(f.SHA256) || f.Size < 0 {
			return pin{}, errSidecar
		}
		seen[f.Name] = true
	}
	if nests(seen) {
		return pin{}, errSidecar
	}
	return p, nil
}

// hashOf is a text's SHA-256 in hex.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
