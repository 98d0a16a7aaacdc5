package message

import (
	"time"

	"rackboot/protocol/resource"
)

// LocalHolds are the holds on an agent's disk that were placed at it, or that no document of the hub named last: what
// is not known anywhere else. They are read while the agent does not run.
type LocalHolds struct {
	Agent string                `json:"agent"`
	Rack  string                `json:"rack"`
	Term  uint64                `json:"term"`
	At    time.Time             `json:"at"` // agent's clock, when they were read
	Holds []resource.ActiveHold `json:"holds,omitempty"`
}
