package local

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// OwnerPrefix begins the owners of holds that were placed here. No caller of the hub
// has such a name.
const OwnerPrefix = "local:"

// List is a list of things of one kind.
type List[T any] struct {
	Items []T `json:"items"`
}

// Hold is a hold at the agent.
type Hold struct {
	resource.ActiveHold
	// Word is Accepted for one that is guarded and could not be recorded; Enforced, Fenced where there is a receipt, or Released.
	Word resource.HoldWord `json:"word"`
	// State and Message as in [resource.HoldStatus], of the server's last step.
	State      resource.HoldState `json:"state,omitempty"`
	Message    string             `json:"message,omitempty"`
	EnforcedAt time.Time          `json:"enforcedAt,omitzero"`
	// ReadAt and Stale as in [resource.HoldStatus], by the agent's clock.
	ReadAt    *time.Time `json:"readAt,omitempty"`
	Stale     bool       `json:"stale,omitempty"`
	ExpiredAt *time.Time `json:"expiredAt,omitempty"`
	// Local is set while the hub has not taken over a hold that was placed here, and
	// Missing while its document leaves out a hold that it had named.
	Local   bool              `json:"local,omitempty"`
	Missing bool              `json:"missing,omitempty"`
	Receipt *resource.Receipt `json:"receipt,omitempty"`
	// Released is set where it ended here and the hub has not heard of it. The hold's
	// other particulars are not known any more then.
	Released *resource.Release `json:"released,omitempty"`
}

// Summary is one server in short.
type Summary struct {
	Phase resource.Phase `json:"phase"`
	// Stale as in [resource.ServerStatus].
	Stale bool `json:"stale,omitempty"`
	resource.ServerReport
}

// Server is everything about one server.
type Server struct {
	Name   string                `json:"name"`
	Phase  resource.Phase        `json:"phase"`
	Report resource.ServerReport `json:"report"`
	// Intent is the hub's last; nil before a document has named the server. Permissions
	// and records that are in it are not shown.
	Intent *message.ServerIntent `json:"intent,omitempty"`
	// Missing says that a newer document left the server out.
	Missing bool   `json:"missing,omitempty"`
	Holds   []Hold `json:"holds,omitempty"`
	// Guard is what happened to it in guard mode; nil is nothing, or it is recorded.
	Guard *Guarded `json:"guard,omitempty"`
	// Guarding says that the agent is in guard mode now.
	Guarding bool        `json:"guarding,omitempty"`
	Explain  Explanation `json:"explain"`
}

// Guard is the agent's guard mode.
type Guard struct {
	Since time.Time `json:"since"`
	Cause string    `json:"cause"`
	// Frozen says that the store cannot be opened: only what is held is known.
	Frozen bool `json:"frozen,omitempty"`
}

// Guarded is what happened to a server in guard mode. It is in memory only.
type Guarded struct {
	Since  time.Time  `json:"since"`            // of the guard mode
	RanAt  *time.Time `json:"ranAt,omitempty"`  // when the held server was first read running
	Forced *time.Time `json:"forced,omitempty"` // when ForceOff was last sent
	Times  int        `json:"times,omitempty"`  // how often
	ReadAt *time.Time `json:"readAt,omitempty"` // the last read with a power state
	// Unread is the longest time without one.
	Unread protocol.Duration `json:"unread,omitempty"`
}

// Status is the agent as a whole.
type Status struct {
	Agent       string `json:"agent"`
	Rack        string `json:"rack"`
	Version     string `json:"version"`
	Incarnation string `json:"incarnation"`
	// Run is random, new for each start of the agent: it tells agents of one disk apart.
	Run string `json:"run,omitempty"`
	// Synced says that the agent has applied its rack's document; until then it only
	// holds.
	Synced bool `json:"synced"`
	// Replaced says that another agent serves the rack.
	Replaced bool `json:"replaced,omitempty"`
	// Standby says that it stands by for the agent that serves the rack.
	Standby bool                     `json:"standby,omitempty"`
	Hub     Hub                      `json:"hub"`
	Applied map[string]protocol.Head `json:"applied,omitempty"` // by topic leaf
	Term    uint64                   `json:"term,omitempty"`
	Backlog Backlog                  `json:"backlog"`
	Servers int                      `json:"servers"`
	Holds   int                      `json:"holds"`
	// Guard is nil where there is a store that can be written.
	Guard *Guard `json:"guard,omitempty"`
	// Stale counts the servers whose last recorded read is older than three polls;
	// OldestRead is the oldest one's age.
	Stale      int               `json:"stale"`
	OldestRead protocol.Duration `json:"oldestRead,omitempty"`
	// Conditions concern the agent as a whole.
	Conditions []Condition `json:"conditions,omitempty"`
}

// Hub is what the agent knows of the hub.
type Hub struct {
	// Met says that the hub has answered since the agent started; Answered that it has
	// answered on the last connection that was made.
	Met      bool `json:"met"`
	Answered bool `json:"answered"`
	// Verified says that its word is fresh.
	Verified bool `json:"verified"`
	// LastWord is when the last that was heeded was made, by the hub's clock.
	LastWord *time.Time `json:"lastWord,omitempty"`
	// Coming are the documents that the hub has and the agent does not.
	Coming map[string]protocol.Head `json:"coming,omitempty"`
	Fence  message.Fence            `json:"fence,omitzero"`
}

// Backlog is the events that the hub has not acknowledged.
type Backlog struct {
	Waiting uint64 `json:"waiting"`
	Head    uint64 `json:"head"` // number of the last event
}
