package store

import (
	"time"

	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// View is everything durable that a decision about one server depends on.
type View struct {
	Synced bool
	// Ended says that the hub has ended the agent's term, and Standby that it has not begun: another
	// agent serves the rack.
	Ended, Standby bool
	// Aside says that another agent has the same disk; see [decide.Snapshot].
	Aside bool
	// Incarnation is the database's at the moment of the view.
	Incarnation string
	Rack        message.RackIntent
	// Intent has the boot that is in force: see [decide.InForce].
	Intent *Intent
	Holds  []decide.Hold
	// Released are the holds that ended at the agent, until the hub has heard of it.
	Released []resource.Release
	Requests []resource.Request
	// Asked are the resumes that were asked for at the agent and have not ended.
	Asked  []resource.Request
	Record decide.Record

	bulk      bool // it has what follows
	forced    []forced
	approvals []approved // of stops
	boots     []approved
	floor     time.Time
}

// Rests says that the agent neither reads nor orders anything.
func (v View) Rests() bool { return v.Ended || v.Standby }

// Intent is a server's intent as it is kept.
type Intent struct {
	message.ServerIntent
	Shard int `json:"shard"`
	// Missing is set when a newer document left the server out. How to reach its
	// BMC is kept, because its holds are still enforced (P1).
	Missing bool `json:"missing,omitempty"`
}

// approved is an approval that was taken, and what it was used for.
type approved struct {
	resource.Approval
	Spent []string `json:"spent,omitempty"`
}

// forced is when a server was forced off without an approval.
type forced struct {
	Server string    `json:"server"`
	At     time.Time `json:"at"`
}
