package decide

import (
	"time"

	"rackboot/protocol"
)

// Left is an override that a BMC keeps although it was to be taken away. Our next power-on
// writes its own over it first, or is not sent (P6).
type Left struct {
	Override protocol.Override `json:"override"`
	Since    time.Time         `json:"since"`
	// Fault is what the BMC said to the last write.
	Fault protocol.BMCFault `json:"fault,omitzero"`
	// Hidden is that reads do not show it.
	Hidden bool `json:"hidden,omitempty"`
}

// DisarmWay is how an override is taken away that nothing consumed.
type DisarmWay string

// The ways, in the order in which they are tried.
const (
	DisarmDisabled DisarmWay = ""      // Disabled, in the words of the BMC's vendor
	DisarmNone     DisarmWay = "none"  // the target None alone
	DisarmHdd      DisarmWay = "hdd"   // the disk for once: what is left boots nothing foreign
	DisarmLeave    DisarmWay = "leave" // it stays
)

// Rearm is the disk, armed for once while the server runs, for a restart that the
// operating system does by itself: that of an installer that has ended, and with
// osReboot: rearm each one. It is the one override that no power-on of ours is for, it
// is never of a network target, and it does not outlive the run: it is cleared when the
// server is Off.
type Rearm struct {
	ID    string     `json:"id"`
	State RearmState `json:"state"`
	// Read is the override as the BMC spells it, Outcome what became of the write.
	Read    protocol.Override    `json:"read,omitzero"`
	Outcome protocol.BootOutcome `json:"outcome,omitempty"`
	// Way is how it is cleared now.
	Way DisarmWay `json:"way,omitempty"`
}

// RearmState is how far it has come.
type RearmState string

// The states.
const (
	RearmNone    RearmState = "none"    // there is none
	RearmArming  RearmState = "arming"  // written, or about to be
	RearmArmed   RearmState = "armed"   // and read back
	RearmUndo    RearmState = "undo"    // the BMC would keep it for ever: it is cleared
	RearmGivenUp RearmState = "givenup" // not again in this run
)

// Medium is what the BMC holds in its virtual drives for a boot. It is on disk before the
// image is inserted, and until it was ejected, whatever becomes of the attempt.
type Medium struct {
	Attempt string      `json:"attempt"` // its id
	Token   string      `json:"token"`   // in the URLs of its images; never printed
	State   MediumState `json:"state"`
	Blob    string      `json:"blob"` // digest of the image that firmware boots
	// Config says that a second drive has the config image.
	Config bool `json:"config,omitempty"`
}

// MediumState is how far it has come.
type MediumState string

// The states.
const (
	MediumInserting MediumState = "inserting" // inserted, or about to be
	MediumIn        MediumState = "in"        // and read back
	MediumOut       MediumState = "out"       // to be ejected; it is served no more
)

// BootURL is a URL that was given to a BMC for the firmware of one attempt (reach: uri).
// No firmware takes it away as it takes an override for once, and the attempt's token is in
// it: it is cleared when firmware has done with it.
type BootURL struct {
	Attempt string `json:"attempt"`
	Token   string `json:"token"` // of the attempt; never printed
}

// Guard is what a held server does when mains power returns, and what it did before.
type Guard struct {
	// Before is the policy from before, on disk before another is written; empty where
	// it is not known, and then none is.
	Before protocol.RestorePolicy `json:"before,omitempty"`
	State  Guarding               `json:"state"`
	Why    string                 `json:"why,omitempty"` // it cannot be
}

// Guarding is how far a guard has come.
type Guarding string

// The states of a guard.
const (
	GuardNone   Guarding = "none"
	GuardKnown  Guarding = "known"  // Before is on disk; the BMC may have either policy
	GuardSet    Guarding = "set"    // AlwaysOff was read back
	GuardCannot Guarding = "cannot" // the BMC does not offer it, or refused it
)
