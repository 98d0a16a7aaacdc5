package protocol

// FileIgnition is the name of a server's user data below the token of its boot.
const FileIgnition = "ignition"

// FileDiscard is the name of the file below the token of a boot by which rackboot-probe is
// told that it may discard the server's disks.
const FileDiscard = "discard"

// TypeIgnition is the media type of an Ignition configuration.
const TypeIgnition = "application/vnd.coreos.ignition+json"

// MaxIgnition bounds user data as a server gets it, in bytes. What a Secret may have is
// less, see [MaxSecretValue].
const MaxIgnition = 1 << 20

// SealedOverhead is how much longer sealed user data is than the data, in bytes: a key
// of X25519 and the tag of AES-GCM.
const SealedOverhead = 48

// IgnitionRef is one version of a Secret of type ignition, as a boot configuration fixes
// it when it is made.
type IgnitionRef struct {
	Secret  string `json:"secret"`
	UID     string `json:"uid"` // of the Secret
	Version uint64 `json:"version"`
	Digest  string `json:"digest"` // status.digest of the Secret: an HMAC
}

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
func (i IgnitionIntent) Ref() IgnitionRef {
	return IgnitionRef{Secret: i.Secret, UID: i.UID, Version: i.Version, Digest: i.Digest}
}

// IgnitionOf is user data of which nothing was sealed yet.
func IgnitionOf(r IgnitionRef) *IgnitionIntent {
	return &IgnitionIntent{Secret: r.Secret, UID: r.UID, Version: r.Version, Digest: r.Digest}
}

// check reports a wrong reference to user data.
func (r *Ref) checkIgnition(f *FieldErrors, path string) {
	if r != nil {
		f.name(path+".name", r.Name)
	}
}

// ignitionReference is the Secret of user data, if there is one.
func ignitionReference(path string, r *Ref) []Reference {
	if r == nil {
		return nil
	}
	return []Reference{{path + ".name", KindSecret, r.Name}}
}
