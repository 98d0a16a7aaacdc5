package main

import (
	"context"
	"encoding/json"
	"os"
	"time"

	agentdaemon "rackboot/agent/daemon"
	hubdaemon "rackboot/hub/daemon"
)

// childConfig is the first line that a child reads: exactly one part is set.
type childConfig struct {
	Hub   *hubdaemon.Config   `json:",omitempty"`
	Agent *agentdaemon.Config `json:",omitempty"`
	Fleet *fleetPlan          `json:",omitempty"`
	// Profile is where a CPU profile of each load is written; empty is none.
	Profile string
}

// order is a further line that a child reads; it answers each with one message.
type order struct {
	Do     string
	Server int    `json:",omitempty"`
	On     bool   `json:",omitempty"`
	Load   string `json:",omitempty"`
}

// message is a line that a child writes.
type message struct {
	Answer json.RawMessage `json:",omitempty"`
	Error  string          `json:",omitempty"`
	Fenced *fenced         `json:",omitempty"` // of an agent, at any time
}

// fenced is a receipt on the agent's disk.
type fenced struct {
	Hold string
	At   time.Time
}

// part is what a child is.
type part interface {
	// start returns once the part serves.
	start(ctx context.Context, say func(message)) (ready any, err error)
	do(o order) (any, error)
	// stop ends it, and returns when it has ended.
	stop() error
}

// profile writes a CPU profile for each load.
type profile struct {
	prefix string
	file   *os.File
}

// childArg makes a process a part of the site.
const childArg = "-part"
