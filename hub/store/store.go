package store

import "rackboot/protocol"

// Store is the hub's store: it opens, follows what others write, and has a type for each noun. All
// methods are safe for concurrent use, those of the nouns too.
type Store struct {
	core *core

	Answers     *Answers
	Approvals   *Approvals
	Credentials *Credentials
	Envs        *Envs
	Ignitions   *Ignitions
	Inventories *Inventories
	ISOs        *ISOs
	Ledgers     *Ledgers
	Log         *Log
	Meta        *Meta
	// Haste has background work give way to holds.
	Haste *Haste

	vault         Vault
	checkIgnition func([]byte) protocol.FieldErrors
	envRules      EnvRules

	requests *book[StoredRequest]

	// sets has who has lost go alone, of those who write sets of resources.
	sets *turnstile
	// underway is what is being written of what a rack has room for.
	underway underway
}
