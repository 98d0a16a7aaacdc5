package bootimages

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rackboot/protocol/resource"
)

// Seen is how far something that a revision needs is known.
type Seen string

// The states.
const (
	SeenAsked   Seen = "asked"   // nothing has answered yet
	SeenFailing Seen = "failing" // it cannot be had for now
	SeenInvalid Seen = "invalid" // it is wrong
	SeenReady   Seen = "ready"
)

// ArchSeen is what is known of an image for one architecture.
type ArchSeen struct {
	Has     bool // there is one
	State   Seen
	Message string
	Image   resource.Image // where ready
	// Boots says why the group's first boot cannot boot it; empty if it can.
	Boots string
}

// StubSeen is what is known of a group's user data.
type StubSeen struct {
	Named   bool // the group has some
	State   Seen
	Message string
	// Refused says why it is not to be translated; empty if it need not be, or was.
	Refused string
	// TooNew says that the image does not read it.
	TooNew string
	// CA are the findings of its certificate authorities.
	CA []resource.ConditionState

	Stub, Original *resource.IgnitionRef
	Version        string // of the specification
}

// CheckIn is everything that is checked before a group gets a revision.
type CheckIn struct {
	Architectures []string
	Images        map[string]ArchSeen // by architecture
	Stub          StubSeen
	Conflicts     map[string][]string // servers that several groups select
	Wrong         []string            // servers with an architecture that is not declared
}

// Checked is what was found. Nothing is changed unless Fits.
type Checked struct {
	// Failed are all that has to be corrected or tried again, Waits what is being asked.
	Failed []resource.ConditionState
	Waits  []string
	// Told are conditions that stop nothing.
	Told []resource.ConditionState
}

// Fits says whether a revision can be made.
func (c Checked) Fits() bool { return len(c.Failed) == 0 && len(c.Waits) == 0 }

// finding is what is found of one thing.
type finding string

const (
	findFits       finding = "fits"
	findMissing    finding = "missing"
	findWaits      finding = "waits"
	findUnverified finding = "unverified"
	findInvalid    finding = "invalid"
	findMethod     finding = "method"
	findRefused    finding = "refused"
	findTooNew     finding = "too new"
)

// Preflight checks all of it, and lists all that fails: in the first release that changed
// boot images elsewhere, the image was swapped before the user data was looked at
// (OCPBUGS-105315).
func Preflight(in CheckIn) (out Checked) {
	fail := func(code resource.ConditionCode, format string, args ...any) {
		out.Failed = append(out.Failed, resource.ConditionState{Code: code, Message: fmt.Sprintf(format, args...)})
	}
	for _, arch := range in.Architectures {
		s := in.Images[arch]
		switch archRule(s.Has, s.State, s.Boots == "") {
		case findMissing:
			fail(resource.CondImagesDegraded, "the entry has no image for %s, which the group needs", arch)
		case findWaits:
			out.Waits = append(out.Waits, "the image for "+arch+" is looked up")
		case findUnverified:
			fail(resource.CondImageUnverified, "%s: %s", arch, s.Message)
		case findInvalid:
			fail(resource.CondImageInvalid, "%s: %s", arch, s.Message)
		case findMethod:
			fail(resource.CondImagesDegraded, "%s: %s", arch, s.Boots)
		case findFits, findRefused, findTooNew:
		}
	}
	switch stubRule(in.Stub.Named, in.Stub.State, in.Stub.Refused != "", in.Stub.TooNew != "") {
	case findWaits:
		out.Waits = append(out.Waits, "the user data is read")
	case findUnverified, findInvalid:
		fail(resource.CondUserDataInvalid, "%s", in.Stub.Message)
	case findRefused:
		fail(resource.CondStubRefused, "%s", in.Stub.Refused)
	case findTooNew:
		fail(resource.CondStubRefused, "%s", in.Stub.TooNew)
	case findFits, findMissing, findMethod:
	}
	out.Told = in.Stub.CA
	for _, server := range slices.Sorted(maps.Keys(in.Conflicts)) {
		// Of the group's servers only this one has no image; the others go on.
		out.Told = append(out.Told, resource.ConditionState{Code: resource.CondGroupConflict, Message: fmt.Sprintf("server %s is in %s", server, strings.Join(in.Conflicts[server], " and "))})
	}
	if len(in.Wrong) > 0 {
		fail(resource.CondImagesDegraded, "spec.architectures does not have that of %s", strings.Join(in.Wrong, ", "))
	}
	return out
}

// archRule judges an image for one architecture. The first row that fits decides.
//
//	has | seen    | boots | finding
//	no  | *       | *     | missing
//	yes | asked   | *     | waits
//	yes | failing | *     | unverified
//	yes | invalid | *     | invalid
//	yes | ready   | no    | method
//	yes | ready   | yes   | fits
func archRule(has bool, seen Seen, boots bool) finding {
	switch {
	case !has:
		return findMissing
	case seen == SeenAsked:
		return findWaits
	case seen == SeenFailing:
		return findUnverified
	case seen != SeenReady:
		return findInvalid
	case !boots:
		return findMethod
	}
	return findFits
}

// stubRule judges user data. It is judged whether or not the image is another one: an
// image that is current with user data that it cannot read boots nothing. The first row
// that fits decides.
//
//	named | seen    | refused | too new | finding
//	no    | *       | *       | *       | fits
//	yes   | asked   | *       | *       | waits
//	yes   | failing | *       | *       | unverified
//	yes   | invalid | *       | *       | invalid
//	yes   | ready   | yes     | *       | refused
//	yes   | ready   | no      | yes     | too new
//	yes   | ready   | no      | no      | fits
func stubRule(named bool, seen Seen, refused, tooNew bool) finding {
	switch {
	case !named:
		return findFits
	case seen == SeenAsked:
		return findWaits
	case seen == SeenFailing:
		return findUnverified
	case seen != SeenReady:
		return findInvalid
	case refused:
		return findRefused
	case tooNew:
		return findTooNew
	}
	return findFits
}
