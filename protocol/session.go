package protocol

import "time"

// Hello is the first message of an agent on a connection.
type Hello struct {
	Agent       string          `json:"agent"`
	Session     string          `json:"session"` // random, new for each connection
	Incarnation string          `json:"incarnation"`
	Term        uint64          `json:"term"`
	Protocol    int             `json:"protocol"`
	Version     string          `json:"version"`
	Applied     map[string]Head `json:"applied"`
	EventHead   uint64          `json:"eventHead"`
	At          time.Time       `json:"at"`
}

// Sync is the hub's answer to a Hello: what the agent should have.
type Sync struct {
	Session     string          `json:"session"`
	Protocol    int             `json:"protocol"`
	Heads       map[string]Head `json:"heads"`
	EventsAcked uint64          `json:"eventsAcked"`
	At          time.Time       `json:"at"`
	// Refused says why the hub does not serve this agent; empty if it does.
	Refused ConditionCode `json:"refused,omitempty"`
}

// Applied acknowledges a document after it was fsynced with its mark.
type Applied struct {
	Doc  string `json:"doc"` // the topic's leaf: hold, rack/0
	Head Head   `json:"head"`
	// Digest is of the document's signed bytes.
	Digest string `json:"digest"`
	// Released lists the holds of the document's releases that no longer lie.
	Released []string `json:"released,omitempty"`
	// Rejected lists servers whose entry was refused alone; the old one stays.
	Rejected []Rejection `json:"rejected,omitempty"`
	// Refused says why the whole document was refused.
	Refused string `json:"refused,omitempty"`
}

// Rejection is one entry that was refused.
type Rejection struct {
	Server string `json:"server"`
	Reason string `json:"reason"`
}

// Announce tells agents that a hub has started; they answer with a Hello.
type Announce struct {
	Hub   string    `json:"hub"` // random, new for each start
	Epoch uint64    `json:"epoch"`
	At    time.Time `json:"at"`
}

// EventBatch is a run of events. The agent keeps events until they are
// acknowledged in a Sync.
type EventBatch struct {
	Agent       string  `json:"agent"`
	Incarnation string  `json:"incarnation"`
	Session     string  `json:"session"`
	Events      []Event `json:"events"`
}
