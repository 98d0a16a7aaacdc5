package plan

import (
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

// GroupThen is what becomes of a claim's configuration when its group has another
// revision.
type GroupThen string

// The answers.
const (
	GroupKeep    GroupThen = "keep"    // nothing changes, and nothing is wrong
	GroupReplace GroupThen = "replace" // a configuration of the next generation takes its place
)

// groupChangeRule decides. The first row that fits decides.
//
//	other | installed | turn | begun | then
//	no    | *         | *    | *     | keep
//	yes   | yes       | *    | *     | keep
//	yes   | no        | no   | *     | keep
//	yes   | no        | yes  | yes   | keep
//	yes   | no        | yes  | no    | replace
//
// installed is that the system is on the disk and booted from there, or one was of an
// earlier configuration of the claim, over which no roll-out lets this one install: a newer
// revision is for others then (seed 001: running nodes are not touched). turn is that no wave of a
// roll-out is to come first. begun is that the agent was given the grant and is booting by
// it, has not said, or that the server runs what it booted for an installation that was
// not reported.
func groupChangeRule(other, installed, turn, begun bool) GroupThen {
	if other && !installed && turn && !begun {
		return GroupReplace
	}
	return GroupKeep
}

// GroupChange judges a claim of a group's image that has a configuration. revision is the
// one that it would be given now, 0 where it is given none.
func GroupChange(f Fleet, cfg *resource.BootConfiguration, revision int, turn bool) GroupThen {
	other := cfg.Spec.Group != "" && revision > 0 && cfg.Spec.Revision != revision
	repeats := Repeats(cfg.Spec.Owner.Kind, cfg.Spec.BootPolicy)
	begun := false
	if r := f.Reports[cfg.Spec.Server]; cfg.Status.GrantFor != "" {
		begun = r == nil || r.OwnerUID == cfg.Spec.Owner.UID && r.Attempt != nil &&
			r.Attempt.State != resource.AttemptSucceeded && r.Attempt.State != resource.AttemptFailed
		begun = begun || !repeats && r.Power != protocol.PowerOff
	}
	before := cfg.Status.Seen != nil && cfg.Status.Seen.Booted != nil
	return groupChangeRule(other, (cfg.Installed() || before) && !repeats, turn, begun)
}
