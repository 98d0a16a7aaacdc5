package decide

import (
	"slices"
	"time"

	"rackboot/protocol"
)

// Residue is what we left at a server's BMC and have not taken away yet. It outlives the attempt that
// left it. There is at most one of each kind.
type Residue []Left

// Left is one thing that was left, with what is needed to take it away.
type Left struct {
	Kind   LeftKind  `json:"kind"`
	Way    DisarmWay `json:"way,omitempty"` // how an override is cleared now
	Kept   *Kept     `json:"kept,omitempty"`
	Rearm  *Rearm    `json:"rearm,omitempty"`
	Medium *Medium   `json:"medium,omitempty"`
	URL    *BootURL  `json:"url,omitempty"`
}

// LeftKind is what was left.
type LeftKind string

// The kinds. All but the first two have a field of their own.
const (
	LeftOverride LeftKind = "override" // of the record's attempt: nothing consumed it
	LeftRunning  LeftKind = "running"  // what a failed network boot left running: it is stopped by force
	LeftKept     LeftKind = "kept"
	LeftRearm    LeftKind = "rearm"
	LeftMedium   LeftKind = "medium"
	LeftURL      LeftKind = "url"
)

// at is the index of a kind; -1 where nothing of it was left.
func (re Residue) at(k LeftKind) int {
	return slices.IndexFunc(re, func(l Left) bool { return l.Kind == k })
}

// of is what was left of a kind; zero where nothing was.
func (re Residue) of(k LeftKind) (l Left, ok bool) {
	if i := re.at(k); i >= 0 {
		return re[i], true
	}
	return Left{}, false
}

func (re Residue) has(k LeftKind) bool { return re.at(k) >= 0 }

// put notes what was left, in the place of what there was of its kind.
func (re *Residue) put(l Left) {
	if i := re.at(l.Kind); i >= 0 {
		(*re)[i] = l
		return
	}
	*re = append(*re, l)
}

// drop forgets kinds: they were taken away, or are known not to be there.
func (re *Residue) drop(kinds ...LeftKind) {
	if *re = slices.DeleteFunc(*re, func(l Left) bool { return slices.Contains(kinds, l.Kind) }); len(*re) == 0 {
		*re = nil
	}
}

// disarm asks for the override of the record's attempt to be cleared.
func (re *Residue) disarm() {
	if !re.has(LeftOverride) {
		re.put(Left{Kind: LeftOverride})
	}
}

// Kept is nil where the BMC keeps no override against our will.
func (re Residue) Kept() *Kept {
	l, _ := re.of(LeftKept)
	return l.Kept
}

// Rearm is nil where nothing is armed for restarts of the operating system.
func (re Residue) Rearm() *Rearm {
	l, _ := re.of(LeftRearm)
	return l.Rearm
}

// Boots reports whether firmware boots the medium; else it is the config image alone.
func (m *Medium) Boots() bool { return m != nil && !m.Beside }

// Medium is nil where nothing of ours is in a virtual drive.
func (re Residue) Medium() *Medium {
	l, _ := re.of(LeftMedium)
	return l.Medium
}

// URL is nil where no BMC has a URL of ours.
func (re Residue) URL() *BootURL {
	l, _ := re.of(LeftURL)
	return l.URL
}

// clone copies what a step may change.
func (re Residue) clone() Residue {
	c := slices.Clone(re)
	for i := range c {
		l := &c[i]
		l.Kept, l.Rearm, l.Medium, l.URL = copied(l.Kept), copied(l.Rearm), copied(l.Medium), copied(l.URL)
	}
	return c
}

// copied is a copy of what p points to; nil of nil.
func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// Kept is an override that a BMC keeps although it was to be taken away. Our next power-on
// writes its own over it first, or is not sent (P6).
type Kept struct {
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
	// Config says that a drive has the config image.
	Config bool `json:"config,omitempty"`
	// Beside says that the config image is all there is: the boot is one from the network.
	Beside bool `json:"beside,omitempty"`
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
