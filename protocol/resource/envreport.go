package resource

import "rackboot/protocol"

// EnvState is how far an agent is with a server's boot environment.
type EnvState string

// The states. One that was refused is as it was before, with the reason.
const (
	EnvBuilding EnvState = "Building"
	EnvReady    EnvState = "Ready"
	EnvRefused  EnvState = "Refused"
)

// EnvStates lists the states.
func EnvStates() []EnvState { return []EnvState{EnvBuilding, EnvReady, EnvRefused} }

// EnvSource is where the files of an environment come from.
type EnvSource string

// The sources.
const (
	EnvFromISO   EnvSource = "iso"
	EnvFromImage EnvSource = "image"
	EnvFromProxy EnvSource = "proxy" // through the agent, from a package repository
	EnvFromNone  EnvSource = "none"  // rendered files alone
)

// EnvReport is what an agent serves of a boot environment. BootEnv, OS and Generation are
// those in force; Wanted is what is being built or was refused, with why.
type EnvReport struct {
	State      EnvState  `json:"state"`
	BootEnv    string    `json:"bootEnv,omitempty"`
	OS         string    `json:"os,omitempty"`
	Generation string    `json:"generation,omitempty"` // digest over all that is served
	Source     EnvSource `json:"source,omitempty"`
	Wanted     string    `json:"wanted,omitempty"` // bundle digest
	Message    string    `json:"message,omitempty"`
	// Code says of what kind the refusal is. The agent tries again by itself; only where it is
	// unavailable or timeout it can come to another end without a change.
	Code protocol.Code `json:"code,omitempty"`
}
