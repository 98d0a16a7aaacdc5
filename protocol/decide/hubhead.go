package decide

import (
	"cmp"

	"rackboot/protocol/message"
)

// HubStanding is how what a hub says of its store stands to what an agent was told before.
type HubStanding string

// The standings.
const (
	HubUnknown  HubStanding = "unknown"  // nothing was told before, or nothing is said
	HubOnward   HubStanding = "onward"   // it goes on from there
	HubReplaced HubStanding = "replaced" // an operator put another store in its place
	HubReverted HubStanding = "reverted" // it has less: the store was put back, or has lost something
	HubForeign  HubStanding = "foreign"  // it is of another store, and nobody said that it replaces the one before
)

// hubHeadRule compares them. The first row that fits decides.
//
//	known | store | epoch | less | standing
//	no    | *     | *     | *    | unknown
//	yes   | *     | above | *    | replaced
//	yes   | same  | below | *    | reverted
//	yes   | same  | same  | yes  | reverted
//	yes   | same  | same  | no   | onward
//	yes   | other | *     | *    | foreign
//
// Each restore makes a new store id, and raises the epoch above all that was.
func hubHeadRule(known bool, same bool, epoch int, less bool) HubStanding {
	switch {
	case !known:
		return HubUnknown
	case epoch > 0:
		return HubReplaced
	case !same:
		return HubForeign
	case epoch < 0, less:
		return HubReverted
	}
	return HubOnward
}

// HubHead says how what a hub says of its store stands to what was kept of it.
func HubHead(kept, said message.HubHead) HubStanding {
	return hubHeadRule(kept.Store != "" && said.Store != "", kept.Store == said.Store, cmp.Compare(said.Epoch, kept.Epoch), said.Sequence < kept.Sequence)
}

// Behind reports whether a hub with this standing is not to be followed: what it has not may be what it
// had given.
func (s HubStanding) Behind() bool { return s == HubReverted || s == HubForeign }
