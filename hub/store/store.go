package store

// Store is the hub's store: it opens, follows what others write, and has a type for each noun. All
// methods are safe for concurrent use, those of the nouns too.
type Store struct {
	core *core

	Beside

	Answers      *Answers
	Approvals    *Approvals
	BootImages   *BootImages
	Claims       *Claims
	Credentials  *Credentials
	Envs         *Envs
	Holds        *Holds
	Ignitions    *Ignitions
	Inventories  *Inventories
	Ledgers      *Ledgers
	Log          *Log
	Maintenances *Maintenances
	Meta         *Meta
	Objects      *Objects
	Requests     *Requests
	Secrets      *Secrets
	Sets         *Sets
	// Haste has background work give way to holds.
	Haste *Haste
}

// Beside are the books of what is neither a resource nor follows from one.
type Beside struct {
	Uploaded
	Sharing
}

// Uploaded are the books of what people give the hub to keep.
type Uploaded struct {
	AgentPackages *AgentPackages
	Contents      *Contents
	ISOs          *ISOs
	Repositories  *Repositories
}

// Sharing are the books of which hubs work on the store, and who works what.
type Sharing struct {
	Hubs  *Hubs
	Units *Units
}

// Heads is for one who keeps checkpoints.
func (s *Store) Heads() Heads { return Heads{s.core} }
