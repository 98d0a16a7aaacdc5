package message

import (
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Report is what an agent says of its servers. It is whole, never a patch.
type Report struct {
	Agent       string                   `json:"agent"`
	Rack        string                   `json:"rack"`
	Incarnation string                   `json:"incarnation"`
	Session     string                   `json:"session"`
	Seq         uint64                   `json:"seq"` // within the session
	At          time.Time                `json:"at"`
	Version     string                   `json:"version"` // of the agent's binary
	Applied     map[string]protocol.Head `json:"applied"`
	Shard       int                      `json:"shard"`
	Shards      int                      `json:"shards"`
	Servers     []resource.ServerReport  `json:"servers"`
	Nonce       string                   `json:"nonce,omitempty"` // of the session's Sync
	Fence       Fence                    `json:"fence,omitzero"`  // the highest that the agent has followed
	// Found are the BMCs that the agent found on its segments; in shard 0 only.
	Found []resource.FoundBMC `json:"found,omitempty"`
	// Conditions concern the agent as a whole.
	Conditions []resource.ConditionState `json:"conditions,omitempty"`
}
