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
	// Canary says that the server is to try the current revision: by the roll-out, or by
	// its place among the first.
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

// Canary says whether a server may try a revision that nobody has booted. given are the
// other servers that were given it.
func Canary(g *resource.ServerGroup, server string, labels map[string]string, given []string) bool {
	if ro := g.Status.Rollout; ro != nil && ro.Revision == g.Status.Revision {
		if m, member := ro.Members[server]; member {
			return canaryRule(true, m.Wave == 0 || m.BegunAt != nil, false)
		}
	}
	c := g.Spec.Rollout.Canary
	if len(c.MatchLabels) > 0 {
		return canaryRule(false, false, matches(c.MatchLabels, labels))
	}
	return canaryRule(false, false, len(given) < max(c.Count, 1))
}

// canaryRule decides. The first row that fits decides.
//
//	member | first | place | canary
//	yes    | yes   | *     | yes
//	yes    | no    | *     | no
//	no     | *     | yes   | yes
//	no     | *     | no    | no
//
// member is that a roll-out of the revision names the server, first that it is of its
// canaries, or was begun. place is that its labels match, or that fewer were given the
// revision than spec.rollout.canary.count.
func canaryRule(member, first, place bool) bool {
	if member {
		return first
	}
	return place
}
