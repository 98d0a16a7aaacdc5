package message

import "time"

// KeyRole says what a key of the hub may sign.
type KeyRole string

// The roles.
const (
	// KeyEveryday signs documents, answers and grants.
	KeyEveryday KeyRole = "everyday"
	// KeyDestructive approves what destroys or stops much at once.
	KeyDestructive KeyRole = "destructive"
)

// KeyStatement says that a key of the hub takes over from another. The key that was
// the everyday key before it signs it, and for a destructive key that has one before
// it, that one. All statements of a hub are one chain, which agents follow from the
// key that they pinned when they joined.
type KeyStatement struct {
	// Number is its place in the chain; the first has 1.
	Number uint64  `json:"number"`
	Role   KeyRole `json:"role"`
	// Key is the new Ed25519 public key, Replaces the one before it in its role; empty
	// for the first destructive key.
	Key      []byte `json:"key"`
	Replaces []byte `json:"replaces,omitempty"`
	// Previous is the digest of the sealed statement before it; empty for the first.
	Previous string `json:"previous,omitempty"`
	// At is when it was made, hub clock. It counts as soon as it is read.
	At time.Time `json:"at"`
}
