package bootimages

import "rackboot/protocol/resource"

// Take is which revision a server may be given.
type Take string

// The answers.
const (
	TakeCurrent  Take = "current"
	TakeVerified Take = "verified" // the last one that servers really booted
	TakeNothing  Take = "nothing"  // it waits
)

// TakeIn is what it is decided by.
type TakeIn struct {
	Current int // number of the current revision; 0 is none
	// Verified is the number of the last one that was verified; 0 is none.
	Verified int
	// Stamped says that the current revision's entry may be booted by everybody; an image
	// of the owner's own may be.
	Stamped bool
	// Canary says that the server is to try the current revision.
	Canary bool
	// Placed says that it is known whether the server is a canary.
	Placed bool
}

// Taken decides which revision.
func Taken(in TakeIn) Take {
	return takeRule(in.Current > 0, in.Stamped, in.Verified > 0 && in.Verified == in.Current, in.Canary, in.Placed, in.Verified > 0)
}

// takeRule decides. The first row that fits decides.
//
//	current | stamped | is verified | canary | placed | verified | takes
//	no      | *       | *           | *      | *      | *        | nothing
//	yes     | yes     | *           | *      | *      | *        | current
//	yes     | no      | yes         | *      | *      | *        | current
//	yes     | no      | no          | yes    | *      | *        | current
//	yes     | no      | no          | no     | no     | *        | nothing
//	yes     | no      | no          | no     | yes    | yes      | verified
//	yes     | no      | no          | no     | yes    | no       | nothing
//
// is verified is that servers booted the current revision, under another version of the
// hub perhaps: what runs everywhere is not taken away by an upgrade of the hub. placed is that
// the roll-out has said what the server is in it: who comes may be the next canary, and would
// install an older image for good.
func takeRule(current, stamped, isVerified, canary, placed, verified bool) Take {
	switch {
	case !current:
		return TakeNothing
	case stamped || isVerified || canary:
		return TakeCurrent
	case placed && verified:
		return TakeVerified
	}
	return TakeNothing
}

// Canary reports whether a server may try a revision that nobody has booted: the roll-out of the
// group's current revision says so.
func Canary(g *resource.ServerGroup, server string) bool {
	ro := g.Status.Rollout
	if ro == nil {
		return canaryRule(false, false, false)
	}
	m, member := ro.Members[server]
	return canaryRule(ro.Revision == g.Status.Revision, member, m.Wave == 0 || m.BegunAt != nil)
}

// canaryRule decides. The first row that fits decides.
//
//	current | member | first | canary
//	no      | *      | *     | no
//	yes     | no     | *     | no
//	yes     | yes    | no    | no
//	yes     | yes    | yes   | yes
//
// current is that the roll-out is of the group's current revision, member that it names the server, and
// first that this is one of its canaries, or was begun.
func canaryRule(current, member, first bool) bool { return current && member && first }
