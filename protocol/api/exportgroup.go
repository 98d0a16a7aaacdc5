package api

import (
	"strings"

	"rackboot/protocol/resource"
)

// CarriedBootImage is what goes to another hub of what is known of an entry: its stamp,
// which counts there if that hub has the same version. What was proved of files does not:
// the other hub fetches and verifies them itself.
func CarriedBootImage(s resource.BootImageStatus) resource.BootImageStatus {
	return resource.BootImageStatus{Stamp: s.Stamp}
}

// rolloutLeft is why a roll-out that was under way is over at another hub.
const rolloutLeft = "the group came from another hub while it was under way; its servers stay as they are, and those that were not begun take the revision at their next first or network boot"

// CarriedGroup is what goes to another hub of what is stored of a group: the numbers of its
// revisions, the words of people, and the fight with another writer. A roll-out does not go
// on there: what it has ordered, and which servers it waits for, this hub knows alone. One
// that was under way is Aborted.
func CarriedGroup(s resource.ServerGroupStatus) resource.ServerGroupStatus {
	out := resource.ServerGroupStatus{
		Revision: s.Revision, Verified: s.Verified, Adopted: s.Adopted, Pinned: s.Pinned, Rejected: s.Rejected, HotLoop: s.HotLoop,
	}
	out.Rollout = carriedRollout(s.Rollout, rolloutLeft)
	return out
}

// upgradeLeft is why an upgrade of agents that was under way is over at another hub.
const upgradeLeft = "the upgrade came from another hub while it was under way; its agents stay as they are, and another AgentUpgrade upgrades the rest"

func carriedUpgrade(s resource.AgentUpgradeStatus) resource.AgentUpgradeStatus {
	return resource.AgentUpgradeStatus{Package: s.Package, Version: s.Version, Rollout: carriedRollout(s.Rollout, upgradeLeft)}
}

// carriedRollout is what goes to another hub of a roll-out; why is said of one that was under way.
func carriedRollout(ro *resource.RolloutStatus, why string) *resource.RolloutStatus {
	if ro == nil {
		return nil
	}
	left := *ro
	left.Members = nil
	if !left.Phase.Over() {
		left.Phase, left.Resumes, left.Reason, left.By = resource.RolloutAborted, "", why, ""
	}
	return &left
}

// LeftUnderWay says whether a roll-out that was carried was under way: it is over, and nothing
// has ended it.
func LeftUnderWay(ro *resource.RolloutStatus) bool {
	return ro != nil && ro.Phase == resource.RolloutAborted && ro.EndedAt == nil
}

// secretsOf are the Secrets that a resource names, which are left out.
func secretsOf(o resource.Object) (out []LeftOut) {
	add := func(name string) {
		why := "secrets are never exported; make it again at the other hub before the import: rackctl secret set"
		if original, managed := strings.CutSuffix(name, resource.ManagedStubSuffix); managed {
			why = "the other hub translates it again from Secret " + original
		}
		if name != "" {
			out = append(out, LeftOut{Kind: resource.KindSecret, Name: name, Reason: why})
		}
	}
	if r, ok := o.(resource.Referrer); ok {
		for _, ref := range r.References() {
			if ref.Kind == resource.KindSecret {
				add(ref.Name)
			}
		}
	}
	if r, ok := o.(*resource.GroupRevision); ok {
		for _, ref := range []*resource.IgnitionRef{r.Spec.OriginalStub, r.Spec.Stub} {
			if ref != nil {
				add(ref.Secret)
			}
		}
	}
	return out
}
