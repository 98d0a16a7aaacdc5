package decide

import (
	"maps"
	"slices"

	"rackboot/protocol/message"
	"rackboot/protocol/resource"
)

// supersededRule says whether an attempt is ended because its owner names another boot by
// now: the agent had begun by the old grant while the new one was on its way. The first row
// that fits decides.
//
//	newer | network | state     | served | ended
//	no    | *       | *         | *      | no
//	yes   | no      | *         | *      | no
//	yes   | yes     | *         | yes    | no
//	yes   | yes     | Fetched   | *      | no
//	yes   | yes     | Succeeded | *      | no
//	yes   | yes     | Failed    | *      | no
//	yes   | yes     | *         | no     | yes
//
// newer is that the intent is of a later generation of the same claim than the attempt.
// served is that the last file was about to be sent, or the BMC had read the medium: an
// operating system of the old boot may run, and is watched to its end.
func supersededRule(newer, network bool, state resource.AttemptState, served bool) bool {
	switch state {
	case resource.AttemptPreparing, resource.AttemptArmed, resource.AttemptPowerRequested, resource.AttemptConsumed:
		return newer && network && !served
	case resource.AttemptFetched, resource.AttemptSucceeded, resource.AttemptFailed:
	}
	return false
}

// overRule says whether a boot may begin with respect to what an earlier generation of the
// claim has installed. The first row that fits decides.
//
//	network | installed | over | begins
//	yes     | *         | *    | yes
//	no      | no        | *    | yes
//	no      | yes       | yes  | yes
//	no      | yes       | no   | no
//
// network is that each boot is from the network, so that nothing is installed. over is that
// the grant says so, which the hub signs in an approved roll-out only. Where the agent knows
// a destructive key, it wants to see the approval too: see bootRule.
func overRule(network, installed, over bool) bool { return network || !installed || over }

// installedBefore is what an earlier generation of the claim has installed; nil is nothing.
// But with an order to install anew, the hub gives another generation only where nothing was
// installed, and so did not know.
func (r *Record) installedBefore(b *message.BootIntent) *resource.Provisioned {
	if n := r.Owners.Provisioned; n != nil && n.OwnerUID == b.Owner.UID && n.Generation < b.Generation {
		return n
	}
	for _, key := range slices.Sorted(maps.Keys(r.Owners.Earlier)) {
		if n := r.Owners.Earlier[key]; n.OwnerUID == b.Owner.UID && n.Generation < b.Generation {
			return &n
		}
	}
	return nil
}
