package top

import (
	"time"

	"rackboot/cmd/internal/cli/where"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// snapshot is what a hub said of its fleet. Nothing in it is changed once it is made.
type snapshot struct {
	hub, version, caller string
	at                   time.Time // when the newest answer came, by this host's clock
	racks                []*resource.Rack
	agents               []*resource.Agent
	servers              []*resource.Server
	holds                []*resource.Hold
	freezes              []*resource.Freeze
	places               where.Racks
	// live says that a watch tells it: then nobody says when servers were read that are not stale.
	live bool
	// lacks is why something may be missing; empty where nothing is.
	lacks string
}

// trouble is why the hub does not answer. The zero trouble is that it does.
type trouble struct {
	since time.Time
	code  protocol.Code
	why   string
}

// lost reports whether there is trouble.
func (t trouble) lost() bool { return !t.since.IsZero() }

// looked is what was read of the one server that is open.
type looked struct {
	server string
	object *resource.Server // with all its fields; nil where it was not read
	trace  resource.Trace
	why    string // why there is no trace; empty where there is one
}
