package message

import "rackboot/protocol/resource"

// SealedOverhead is how much longer sealed user data is than the data, in bytes: a key
// of X25519 and the tag of AES-GCM.
const SealedOverhead = 48

// IgnitionIntent is user data as it travels: not the data, but what the agent fetches
// from the hub and may open.
type IgnitionIntent struct {
	Secret  string `json:"secret"`
	UID     string `json:"uid"` // of the Secret
	Version uint64 `json:"version"`
	Digest  string `json:"digest"` // status.digest of the Secret: an HMAC
	// Sealed is the digest of what was sealed for the agent, sha256:<hex>; empty while
	// the hub has sealed nothing for the agent's present key.
	Sealed string `json:"sealed,omitempty"`
	Size   int64  `json:"size,omitempty"` // of what was sealed, in bytes
}

// Ref is the version of the Secret.
func (i IgnitionIntent) Ref() resource.IgnitionRef {
	return resource.IgnitionRef{Secret: i.Secret, UID: i.UID, Version: i.Version, Digest: i.Digest}
}

// IgnitionOf is user data of which nothing was sealed yet.
func IgnitionOf(r resource.IgnitionRef) *IgnitionIntent {
	return &IgnitionIntent{Secret: r.Secret, UID: r.UID, Version: r.Version, Digest: r.Digest}
}
