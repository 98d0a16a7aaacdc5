package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rackboot/agent/account"
	"rackboot/agent/boot"
	"rackboot/agent/store"
	"rackboot/agent/stream"
	"rackboot/agent/trace"
	"rackboot/bmc"
	"rackboot/protocol"
	"rackboot/protocol/decide"
	"rackboot/protocol/message"
	"rackboot/protocol/resource"
	"rackboot/protocol/wire"
	"rackboot/state"
)

// Config is what the room is made of.
type Config struct {
	Agent    string // id, which stands in receipts
	Run      string // of this process, random; stands there too
	Started  time.Time
	Store    *store.Store
	Guard    Guard
	Accounts *account.Room
	Changes  *account.Changes
	Denied   *account.Denials
	OpenBMC  bmc.Opener
	Signer   *wire.Signer
	Bulk     BulkStop

	Boot    Boot
	Files   Files
	Hub     Hub
	Index   Index
	Reports Reports
	Streams Streams
	Traces  *trace.Room
	Log     Attempts

	NewID      func() string // makes ids and tokens
	Clock      state.Clock
	Crash      state.Crasher // nil in production
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Attempts has the log name attempts.
type Attempts interface {
	// Follow takes over what a step made of a server's attempt.
	Follow(server string, was, is *decide.Attempt)
}

// Boot is what this room needs of boots.
type Boot interface {
	// Chain returns what a server boots through.
	Chain(in message.ServerIntent) (protocol.BootChain, error)
	// HostBase returns the base URL of a segment's HTTP server, as hosts reach it.
	HostBase(segment string) (base string, ok bool)
	// MediaWay returns how the BMC reaches images of virtual media.
	MediaWay(in message.ServerIntent) (boot.Way, error)
	// Diverted says who may have servers of a segment load another file; empty is nobody.
	Diverted(segment string) string
	// Segment returns what the rack's document says of a segment.
	Segment(name string) (resource.SegmentIntent, bool)
	// Short returns the segment on which a server waits for an address; empty if it does not.
	Short(server string) string
	// Heard returns the architecture that a server's firmware has said by DHCP; empty if it said none.
	Heard(server string) string
	// Follow takes over what a step changed.
	Follow(server string, rec decide.Record)
	// Dropped counts evidence that was not noted, because too much waited.
	Dropped()
}

// Files is what this room needs of the files that servers boot from.
type Files interface {
	// State returns how far they have come.
	State(in message.ServerIntent) decide.Artefacts
	// Report returns how far the boot environment has come; nil without one.
	Report(in message.ServerIntent) *resource.EnvReport
	// Want has them fetched.
	Want(in message.ServerIntent)
}

// Hub is what this room needs to know of the hub.
type Hub interface {
	// Time returns the hub's time as far as it counts for decisions; zero while it does not.
	Time() time.Time
	// Verifier opens what the hub signed.
	Verifier() *wire.Verifier
	// Over reports whether the hub has ended the agent's term.
	Over() bool
	// Dismissed reports whether another agent serves the rack, or this disk is an old copy.
	Dismissed() bool
}

// Guard says whether the agent is in guard mode, and has what happened in it.
type Guard interface {
	On() bool
	// Frozen reports whether the store is one of the guard set, which has no records.
	Frozen() bool
	// Proved are the holds under which the server was proved off, as far as the guard set knows.
	Proved(server string) []string
	// Overlay is what happened to the server that its record does not have; false if nothing.
	Overlay(server string) (o decide.Overlay, owed bool)
	// Note replaces it. Folded says that the record has it.
	Note(server string, o decide.Overlay)
	Folded(server string)
}

// Index is what the boot servers answer by.
type Index interface {
	// Changed reads it anew from the store.
	Changed() error
}

// Reports takes what is to be told of servers.
type Reports interface {
	// Put replaces the report of a server.
	Put(r resource.ServerReport, phase resource.Phase)
	// Of returns the last report of a server.
	Of(server string) (r resource.ServerReport, phase resource.Phase, ok bool)
	// Raise raises a condition of the agent.
	Raise(code resource.ConditionCode, detail string)
	// Clear clears it.
	Clear(code resource.ConditionCode)
}

// Streams are the BMCs' event streams.
type Streams interface {
	// Follow wakes s at events of its BMC, through src if nobody reads them yet.
	Follow(ctx context.Context, address string, src bmc.EventSource, s stream.Server)
	// Leave ends what is read through the driver of s, and returns when it has ended.
	Leave(address string, s stream.Server)
	// Back has the subscription looked at: its BMC was away.
	Back(address string)
}
