package message

// StoreHead says how far an agent's store has come. The hub keeps the last that it was told: a store
// that has less is an older copy, whatever documents and events it has.
type StoreHead struct {
	// Store is the incarnation whose store it is; empty is that nothing is said.
	Store string `json:"store"`
	// Sequence counts the changes of what promises rest on.
	Sequence uint64 `json:"sequence"`
	// Digest is of what is there; two stores that are at one sequence have the same.
	Digest []byte `json:"digest,omitempty"`
}
