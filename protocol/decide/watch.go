package decide

import (
	"time"

	"rackboot/protocol"
)

// Watch is what was read since the agent started. It is not on disk: a run of
// reads that a restart interrupts starts again.
type Watch struct {
	Last     protocol.Observation
	OffSince time.Time
	// Stopping says that the stop of the record was begun, or gone on with, by this
	// run of the agent.
	Stopping bool
	Proofs   map[string]Proof // by hold id, and "" for the end of a claim
	// Again are the holds whose receipt was voided in this run: how long it took to prove them
	// is known from the first time.
	Again map[string]bool
	// On is the On of ours that may still take effect.
	On OnWatch
	// Off are the reads of Off that no hole parts, OffSince the first of those that
	// nothing else parts.
	Off OffReads
	// NextTry is when a failed attempt may be followed by another.
	NextTry time.Time
	Backoff int
	// Pause is when an action that the BMC refused may be sent again.
	Pause time.Time
	// Refused is what the BMC last refused of each kind, until one was accepted or the
	// server is where it shall be.
	Refused map[ActionKind]Refusal
	Reset   ResetWatch
	// Busy says that the last read failed because the BMC asked for a pause.
	Busy bool
	// Unread is the present run of reads without a power state.
	Unread Unread
	// SilentSince is the first of the present run of reads that got no answer.
	SilentSince time.Time
	// Waiting says that the last step waited for firmware work.
	Waiting bool
	// Counted is the Uptime up to which the times to live were counted, by hold id.
	Counted map[string]time.Duration
	Guard   GuardWatch
	// Image, Asked and Heard are when the server was last given the stop image, its firmware
	// asked for a boot that no order explains, and an operating system of it was heard.
	Image, Asked, Heard time.Time
	// RearmNext is when an override for restarts may be written again.
	RearmNext time.Time
	// Occupied is what the BMC last said of somebody else's medium.
	Occupied string
	Eject    EjectWatch
	URL      URLWatch
	// Line is how long it has waited to be switched on.
	Line LineWatch
	// FirmwareNext is when settings of the firmware may be read or written again.
	FirmwareNext time.Time
}

// Proof is an unbroken run of reads of exactly Off that were begun after a
// moment. Longest is the longest gap between two of them.
type Proof struct {
	First, Last time.Time
	Reads       int
	Longest     time.Duration
}

// EjectWatch is how often ejecting has failed in a row.
type EjectWatch struct {
	Tries int
	Next  time.Time
	Why   string
}

// URLWatch is how often clearing a URL has failed in a row. Pending is that the BMC shows it
// until the next reset (AMI).
type URLWatch struct {
	Tries   int
	Next    time.Time
	Why     string
	Pending bool
}

// GuardWatch is how often the last action of a guard failed in a row, and since when.
type GuardWatch struct {
	Kind  ActionKind
	Tries int
	Next  time.Time
	Why   string
}

// Unread is the present run of reads that gave no power state although the BMC answered.
type Unread struct {
	Since time.Time // of its first read; zero if the last read gave one, or no answer came
	Reads int
	Fault protocol.BMCFault // of the last of them
}

// Refusal is what the BMC last said against one kind of action. Each kind has its own
// and loses it when one is accepted, so that a failure of long ago makes nothing harder
// (baremetal-operator counts all in one, and never soft-stops again).
type Refusal struct {
	Message string
	Busy    bool // it asked for a pause: waited for, no failure
	// Fault is what it did wrong, in typed words; Times is how often in a row.
	Fault protocol.BMCFault
	Times int
}
