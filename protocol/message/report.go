package message

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Report is what an agent says of its servers. It is whole, never a patch; with As it is an
// earlier one once more.
type Report struct {
	Agent       string                   `json:"agent"`
	Rack        string                   `json:"rack"`
	Incarnation string                   `json:"incarnation"`
	Run         string                   `json:"run"` // of the agent's process; receipts of another count no more
	Session     string                   `json:"session"`
	Seq         uint64                   `json:"seq"` // within the session
	At          time.Time                `json:"at"`
	Version     string                   `json:"version"` // of the agent's binary
	Applied     map[string]protocol.Head `json:"applied"`
	Shard       int                      `json:"shard"`
	Shards      int                      `json:"shards"`
	Servers     []resource.ServerReport  `json:"servers"`
	// As says that nothing has changed in the shard since the report of the session with that
	// Seq but when servers were read: it stands for Servers and Found. A hub that has neither
	// that report nor a later one with Servers takes no such report, and says so by
	// Sync.Reported. 0 where Servers says it.
	As uint64 `json:"as,omitempty"`
	// Reads are, with As, when servers were read, in the order of its Servers.
	Reads []Read `json:"reads,omitempty"`
	Nonce string `json:"nonce,omitempty"` // of the session's Sync
	Fence Fence  `json:"fence,omitzero"`  // the highest that the agent has followed
	// StoreHead is that of the agent's store. The hub keeps it in memory.
	StoreHead StoreHead `json:"storeHead,omitzero"`
	// Found are the BMCs that the agent found on its segments; in shard 0 only.
	Found []resource.FoundBMC `json:"found,omitempty"`
	// Beats are how the agent hears the other one of its rack.
	Beats []HeardBeat `json:"beats,omitempty"`
	// Conditions concern the agent as a whole.
	Conditions []resource.ConditionState `json:"conditions,omitempty"`
}

// Read is when a server was read last.
type Read struct {
	Age  time.Duration `json:"age,omitempty"`  // ServerReport.ReadAge
	Took time.Duration `json:"took,omitempty"` // from StartedAt of the Observation to its ReadAt
}
