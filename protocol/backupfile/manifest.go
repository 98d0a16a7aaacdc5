package backupfile

import (
	"fmt"
	"path"
	"strings"
	"time"
)

const (
	// manifestName is the last member.
	manifestName = "manifest.json"
	// maxManifest bounds it in bytes.
	maxManifest = 64 << 20
	// maxMembers bounds the members.
	maxMembers = 1 << 20
	// maxName bounds a member's name in bytes.
	maxName = 512
)

// Header is what may be read of a backup without a key.
type Header struct {
	// Made is when the copy was begun.
	Made time.Time `json:"made"`
	// Release is that of the hub.
	Release string `json:"release"`
	// Sealed says how the content is encrypted.
	Sealed Sealed `json:"sealed"`
}

// Sealed is how the content of a backup is encrypted.
type Sealed string

// The ways.
const (
	SealedAge Sealed = "age" // age-encryption.org/v1
	Plain     Sealed = "plain"
)

// Manifest says what is in a backup.
type Manifest struct {
	Header
	// Epoch is that of the documents which the hub made then.
	Epoch uint64 `json:"epoch"`
	// Streams are those of the store, in the order in which they were copied.
	Streams []Stream `json:"streams"`
	// Audit is the end of the audit log.
	Audit AuditHead `json:"audit"`
	// Without names what a hub needs or may have and is not in the backup.
	Without []string `json:"without,omitempty"`
	// Members are the files of the backup without the manifest, in their order.
	Members []Member `json:"members"`
}

// Stream is a stream of the store as it was copied.
type Stream struct {
	Name string `json:"name"`
	// First and Last are sequences of messages; 0 where there are none.
	First    uint64 `json:"first"`
	Last     uint64 `json:"last"`
	Messages uint64 `json:"messages"`
	// Kinds counts the messages by the first level of their keys. A key has as many as the store
	// keeps revisions of it.
	Kinds map[string]uint64 `json:"kinds,omitempty"`
}

// AuditHead is an entry of the audit log.
type AuditHead struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"`
}

// Member is a file of the backup.
type Member struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // hex
}

// checkName says what is wrong with the name of a member: it is a path below the hub's folder, with
// visible ASCII characters.
func checkName(name string) error {
	switch {
	case name == "" || len(name) > maxName:
		return fmt.Errorf("a name of %d bytes", len(name))
	case strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c > '~' || c == '\\' }):
		return fmt.Errorf("the name %q", name)
	case name != path.Clean(name), name[0] == '/', name == ".", name == "..", strings.HasPrefix(name, "../"):
		return fmt.Errorf("the path %q leads elsewhere", name)
	}
	return nil
}
