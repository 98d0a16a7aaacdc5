package resource

import "time"

// RotationState is how far a change of a BMC's account has come at the hub.
type RotationState string

// The states.
const (
	RotationUnderWay RotationState = "Rotating" // the agent has both accounts, or is being sent them
	RotationPromoted RotationState = "Promoted" // the next is the account; the former is kept until the agent says that it has this version
	RotationDone     RotationState = "Done"     // the former is gone
	RotationFailed   RotationState = "Failed"   // the next is gone; the former is the account
	RotationLost     RotationState = "Lost"     // the BMC refuses both; both are kept
)

// RotationStates lists the states.
func RotationStates() []RotationState {
	return []RotationState{RotationUnderWay, RotationPromoted, RotationDone, RotationFailed, RotationLost}
}

// Rotation is the last change of the account of a BMC. No account is in it.
type Rotation struct {
	ID     string        `json:"id"`
	BMC    string        `json:"bmc"`
	State  RotationState `json:"state"`
	Reason string        `json:"reason,omitempty"`
	By     string        `json:"by"`
	At     time.Time     `json:"at"` // of the state
}
