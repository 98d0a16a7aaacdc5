package message

import "time"

// HubHead says what the hub's store has. The hub signs it once for all agents, and each keeps the last and
// gives it back in a Hello: a hub whose store was put back to before learns so from its own word.
type HubHead struct {
	// Store is the store's id: another one after it was restored. Epoch rises then.
	Store string `json:"store"`
	Epoch uint64 `json:"epoch"`
	// Sequence is the revision of the newest change.
	Sequence uint64 `json:"sequence"`
	// Kinds are the numbers of what there is, by kind.
	Kinds map[string]HubSum `json:"kinds,omitempty"`
	// AuditSeq and AuditHash are of the last entry of the audit log.
	AuditSeq  uint64    `json:"auditSeq,omitempty"`
	AuditHash string    `json:"auditHash,omitempty"`
	At        time.Time `json:"at"` // hub clock
	// Hub is the start of the hub that says so; see Fence. What an earlier start said, a later one has
	// as it begins: what it writes then does not make up for what is gone.
	Hub string `json:"hub"`
}

// HubSum is how many keys of a kind there are, and a digest of them.
type HubSum struct {
	Count  uint64 `json:"count"`
	Digest []byte `json:"digest"`
}
