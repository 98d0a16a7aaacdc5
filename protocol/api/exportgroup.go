package api

import (
	"strings"

	"rackboot/protocol"
)

// CarriedBootImage is what goes to another hub of what is known of an entry: its stamp,
// which counts there if that hub has the same version. What was proved of files does not:
// the other hub fetches and verifies them itself.
func CarriedBootImage(s protocol.BootImageStatus) protocol.BootImageStatus {
	return protocol.BootImageStatus{Stamp: s.Stamp}
}

// rolloutLeft is why a roll-out that was under way is over at another hub.
const rolloutLeft = "the group came from another hub while it was under way; its servers stay as they are, and those that were not begun take the revision at their next first or network boot"

// CarriedGroup is what goes to another hub of what is stored of a group: the numbers of its
// revisions, the words of people, and the fight with another writer. A roll-out does not go
// on there: what it has ordered, and which servers it waits for, this hub knows alone. One
// that was under way is Aborted.
func CarriedGroup(s protocol.ServerGroupStatus) protocol.ServerGroupStatus {
	out := protocol.ServerGroupStatus{
		Revision: s.Revision, Verified: s.Verified, Adopted: s.Adopted, Pinned: s.Pinned, Rejected: s.Rejected, HotLoop: s.HotLoop,
	}
	if ro := s.Rollout; ro != nil {
		left := *ro
		left.Members = nil
		if !left.Phase.Over() {
			left.Phase, left.Resumes, left.Reason, left.By = protocol.RolloutAborted, "", rolloutLeft, ""
		}
		out.Rollout = &left
	}
	return out
}

// LeftUnderWay says whether a roll-out that was carried was under way: it is over, and nothing
// has ended it.
func LeftUnderWay(ro *protocol.RolloutStatus) bool {
	return ro != nil && ro.Phase == protocol.RolloutAborted && ro.EndedAt == nil
}

// secretsOf are the Secrets that a resource names, which are left out.
func secretsOf(o protocol.Object) (out []LeftOut) {
	add := func(name string) {
		why := "secrets are never exported; make it again at the other hub before the import: rackctl secret set"
		if original, managed := strings.CutSuffix(name, protocol.ManagedStubSuffix); managed {
			why = "the other hub translates it again from Secret " + original
		}
		if name != "" {
			out = append(out, LeftOut{Kind: protocol.KindSecret, Name: name, Reason: why})
		}
	}
	if r, ok := o.(protocol.Referrer); ok {
		for _, ref := range r.References() {
			if ref.Kind == protocol.KindSecret {
				add(ref.Name)
			}
		}
	}
	if r, ok := o.(*protocol.GroupRevision); ok {
		for _, ref := range []*protocol.IgnitionRef{r.Spec.OriginalStub, r.Spec.Stub} {
			if ref != nil {
				add(ref.Secret)
			}
		}
	}
	return out
}
