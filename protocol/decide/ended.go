package decide

import (
	"time"

	"rackboot/protocol/resource"
)

const (
	// keepEnded is how many ended requests of a server are remembered after the hub
	// ceased to send them, and endedFor for how long.
	keepEnded = 16
	endedFor  = 24 * time.Hour
)

// EndedRequest is how a request ended that the hub does not send any more. A hub that was
// set back to an old copy of its disk sends it again: what was done is not called expired
// then, and is not done twice.
type EndedRequest struct {
	ID      string           `json:"id"`
	Outcome resource.Outcome `json:"outcome"`
	At      time.Time        `json:"at"` // by the agent's clock
	Reason  string           `json:"reason,omitempty"`
}
