package message

import (
	"time"

	"rackboot/protocol/resource"
)

// EndOfTerm is the hub's word that an agent's term is over. It is final: names of
// agents are not given twice, so whoever joins that rack again is another one. The
// agent keeps it on disk, answers no boot and writes to no BMC from then on, not even
// to force a held server off: whether another one owns the rack by now it cannot know.
type EndOfTerm struct {
	Agent string `json:"agent"`
	Term  uint64 `json:"term"`
	// Code is CondRevoked or CondSuperseded.
	Code resource.ConditionCode `json:"code"`
	At   time.Time              `json:"at"` // hub clock
}
