package resource

import (
	"cmp"

	"rackboot/protocol"
)

// GuardReport is what holds have made of a server's power restore policy (Redfish
// ComputerSystem.PowerRestorePolicy).
type GuardReport struct {
	State GuardState `json:"state"`
	// Before is the policy from before the first hold; empty where it is not known.
	Before protocol.RestorePolicy `json:"before,omitempty"`
	// Why is what is in the way; empty if nothing is known to be.
	Why string `json:"why,omitempty"`
}

// GuardState is what the BMC has of a guard.
type GuardState string

// The states of a guard.
const (
	GuardWriting GuardState = "Writing" // AlwaysOff is to be written: the BMC may have either
	GuardSet     GuardState = "Set"     // AlwaysOff was read back
	GuardDue     GuardState = "Due"     // Before is to be put back: the BMC may have either
	GuardRefused GuardState = "Refused" // the BMC does not offer it, or refused it
	GuardKept    GuardState = "Kept"    // held, and the Server keeps its own policy: nothing is written
)

// GuardStates lists the states.
func GuardStates() []GuardState {
	return []GuardState{GuardWriting, GuardSet, GuardDue, GuardRefused, GuardKept}
}

// Words is the report for people: what the BMC has, what it had, and whether that is still to be put back.
func (g GuardReport) Words() string {
	before := cmp.Or(string(g.Before), "not known")
	text := map[GuardState]string{
		GuardWriting: "AlwaysOff is being written; before: " + before,
		GuardSet:     "AlwaysOff while held; before: " + before + ", which the end of the last hold puts back",
		GuardDue:     before + " is to be put back",
		GuardRefused: "not written: the BMC may power the held server on with mains power",
		GuardKept:    "left as it is (spec.keepPowerRestorePolicy): the held server may come on with mains power",
	}[g.State]
	if g.Why != "" {
		text += " (" + g.Why + ")"
	}
	return cmp.Or(text, string(g.State))
}
