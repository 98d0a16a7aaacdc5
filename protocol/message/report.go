package message

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"time"

	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// Report is what an agent says of the servers of a shard: all of them, or with As what has changed since
// an earlier one.
type Report struct {
	Agent       string    `json:"agent"`
	Rack        string    `json:"rack"`
	Incarnation string    `json:"incarnation"`
	Run         string    `json:"run"` // of the agent's process; receipts of another count no more
	Session     string    `json:"session"`
	Seq         uint64    `json:"seq"` // within the session
	At          time.Time `json:"at"`
	Version     string    `json:"version"` // of the agent's binary
	// Metrics is where others reach the agent's metrics page; empty is nowhere, or not said. The hub checks it before it is
	// shown or given to Prometheus.
	Metrics protocol.MetricsAddress  `json:"metrics,omitempty"`
	Applied map[string]protocol.Head `json:"applied"`
	Shard   int                      `json:"shard"`
	Shards  int                      `json:"shards"`
	Servers []resource.ServerReport  `json:"servers"`
	// Revisions say for each of Servers what revision it is of: the Seq of the report that said first what
	// this one says of it.
	Revisions []uint64 `json:"revisions,omitempty"`
	// As says that the shard is as the report of the session with that Seq left it, but for Servers, and
	// for when servers were read. A hub that has neither that report nor a later one takes no
	// such report, and says so by Sync.Reported. 0 where Servers are all of the shard.
	As uint64 `json:"as,omitempty"`
	// Reads are, with As, when the servers of the shard were read, in the order of their names.
	Reads []Read `json:"reads,omitempty"`
	// Digest is, with As, that of the whole shard, as [ShardDigest] makes it. A hub that comes to another one takes
	// no such report, forgets what it had of the shard, and says so as with As.
	Digest []byte `json:"digest,omitempty"`
	Nonce  string `json:"nonce,omitempty"` // of the session's Sync
	Fence  Fence  `json:"fence,omitzero"`  // the highest that the agent has followed
	// StoreHead is that of the agent's store. The hub keeps it in memory.
	StoreHead StoreHead `json:"storeHead,omitzero"`
	// Found are the BMCs that the agent found on its segments; in shard 0 only, and not with As: then they are as
	// before.
	Found []resource.FoundBMC `json:"found,omitempty"`
	// Beats are how the agent hears the other one of its rack.
	Beats []HeardBeat `json:"beats,omitempty"`
	// Conditions concern the agent as a whole.
	Conditions []resource.ConditionState `json:"conditions,omitempty"`
	// Upgrade is of the last order to run another release; in shard 0 only, also with As. Nil from agents without
	// [CapUpgrade] that were never given one.
	Upgrade *UpgradeReport `json:"upgrade,omitempty"`
}

// Read is when a server was read last.
type Read struct {
	Age  time.Duration `json:"age,omitempty"`  // ServerReport.ReadAge
	Took time.Duration `json:"took,omitempty"` // from StartedAt of the Observation to its ReadAt
}

// ShardDigest is that of what is known of a shard: 16 bytes of the SHA-256 of the names of its servers, in their order,
// each behind its length, and before its revision; both are 8 bytes, the highest first.
func ShardDigest(servers iter.Seq2[string, uint64]) []byte {
	h := sha256.New()
	var b [8]byte
	number := func(n uint64) {
		binary.BigEndian.PutUint64(b[:], n)
		h.Write(b[:])
	}
	for name, revision := range servers {
		number(uint64(len(name)))
		h.Write([]byte(name))
		number(revision)
	}
	return h.Sum(nil)[:16]
}
