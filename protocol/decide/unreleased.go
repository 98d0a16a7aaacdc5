package decide

import (
	"cmp"
	"slices"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// A record names owners that the intent does not: those before, and one that waits while a maintenance
// has the server. One that neither let the server go nor is known to the hub was lost there.

// letsGo notes that an owner has let the server go. Under a claim there is no other that waits: whatever
// is recorded of owners before is over with it, for somebody has given their server to this claim.
func (r *Record) letsGo(owner resource.Owner) {
	over := []string{owner.UID}
	if owner.Kind.Or() == resource.PurposeClaim {
		if p := r.Owners.Provisioned; p != nil {
			over = append(over, p.OwnerUID)
		}
	}
	next := slices.DeleteFunc(slices.Clone(r.Owners.Over), func(uid string) bool { return slices.Contains(over, uid) })
	slices.Sort(over)
	next = append(next, slices.Compact(over)...)
	r.Owners.Over = next[max(0, len(next)-maxOwners):]
}

// takesBack notes that the server is booted for an owner that had let it go: a hub that was restored
// names it again.
func (r *Record) takesBack(owner string) {
	if slices.Contains(r.Owners.Over, owner) {
		r.Owners.Over = slices.DeleteFunc(slices.Clone(r.Owners.Over), func(uid string) bool { return uid == owner })
	}
}

// left is what a record has of owners that the intent does not name.
type left string

const (
	leftNone    left = "none"
	leftOver    left = "over"    // of one that let the server go
	leftPresent left = "present" // of the intent's
	leftOther   left = "other"   // of another, which did not
)

// unreleasedRule says which record is told to the hub as one of an owner that has not let the server
// go. The first row that fits decides.
//
//	attempt | provisioned | tells
//	other   | *           | attempt
//	*       | other       | record
//	*       | *           | nothing
//
// The hub compares it with what it knows: a claim that waits is known there.
func unreleasedRule(attempt, provisioned left) string {
	switch {
	case attempt == leftOther:
		return "attempt"
	case provisioned == leftOther:
		return "record"
	}
	return "nothing"
}

// Unreleased is what is recorded of an owner that has not let the server go, and that the intent does not
// name; nil where there is nothing.
func (r *Record) Unreleased(in *message.ServerIntent) *resource.UnreleasedReport {
	stands := func(uid string) left {
		switch {
		case uid == "":
			return leftNone
		case in != nil && in.Owner.UID == uid:
			return leftPresent
		case slices.Contains(r.Owners.Over, uid), r.Owners.Released == uid:
			return leftOver
		}
		return leftOther
	}
	attempt, provisioned := leftNone, leftNone
	a, p := r.Attempt, r.Owners.Provisioned
	if a != nil && cmp.Or(a.Order.Purpose, resource.PurposeClaim) == resource.PurposeClaim {
		attempt = stands(a.Order.OwnerUID)
	}
	if p != nil {
		provisioned = stands(p.OwnerUID)
	}
	switch unreleasedRule(attempt, provisioned) {
	case "attempt":
		return &resource.UnreleasedReport{OwnerUID: a.Order.OwnerUID, Generation: a.Order.Generation, ImageDigest: a.Order.Digest, At: a.Stage.Since, Attempt: a.Stage.State}
	case "record":
		return &resource.UnreleasedReport{OwnerUID: p.OwnerUID, Generation: p.Generation, ImageDigest: p.ImageDigest, At: p.At}
	}
	return nil
}

// Attempted is the last attempt, as long as it is news of the server: until its owner has let the server go. in is
// the server's intent; nil is that nothing is known of it.
func (r *Record) Attempted(in *message.ServerIntent) *Attempt {
	a := r.Attempt
	if a == nil || in == nil || in.Owner.UID == a.Order.OwnerUID {
		return a
	}
	if u := r.Unreleased(in); u != nil && u.OwnerUID == a.Order.OwnerUID {
		return a
	}
	return nil
}
