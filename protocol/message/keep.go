package message

// MaxKeep bounds the files of a [KeepIntent], so that a document of a rack with many groups
// stays one message.
const MaxKeep = 256

// KeepIntent names files of boot images that no server of a rack boots now, and that a
// return to an earlier revision of a group would need. Nothing is fetched for it: what an
// agent has is not removed to make room. The files are digests, sha256:….
type KeepIntent struct {
	// Always are those of each group's current and last verified revision.
	Always []string `json:"always,omitempty"`
	// Older are those of the other revisions that are kept, the first the most wanted. An
	// agent keeps as many as it has room for.
	Older []string `json:"older,omitempty"`
}
