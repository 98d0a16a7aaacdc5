package resource

import (
	"time"

	"rackboot/protocol"
)

// ServerRead is one read of a server's BMC that somebody asked for: it began after they did, and
// is on the agent's disk. Times are the agent's.
type ServerRead struct {
	Server    string              `json:"server" doc:"metadata.name of the server"`
	Power     protocol.PowerState `json:"power" doc:"what the BMC said, word for word; Unreachable where it did not answer"`
	StartedAt time.Time           `json:"startedAt" doc:"when the read began"`
	ReadAt    time.Time           `json:"readAt" doc:"when it ended"`
	Error     string              `json:"error,omitempty" doc:"why there is no power state"`
	// Proved are the receipts that stand after this read.
	Proved []ProvedOff `json:"proved,omitempty" doc:"the holds whose receipt stands after this read"`
}

// ProvedOff names a receipt of a hold.
type ProvedOff struct {
	Hold         string    `json:"hold" doc:"metadata.name of the hold"`
	StoppedSince time.Time `json:"stoppedSince" doc:"as in the receipt"`
}

// Stands reports whether a receipt stands after the read: the server was read Off, and the proof
// is the same.
func (r ServerRead) Stands(of Receipt) bool {
	if r.Power != protocol.PowerOff {
		return false
	}
	for _, p := range r.Proved {
		if p.Hold == of.HoldID && p.StoppedSince.Equal(of.StoppedSince) {
			return true
		}
	}
	return false
}
