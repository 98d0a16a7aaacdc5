package message

import "time"

// UpgradeIntent orders an agent to run another release of itself. The agent does it once for each Order, and only where a
// key of its own file signed Manifest.
type UpgradeIntent struct {
	Order string `json:"order"` // names the order; a new name is a new order
	// Manifest is the signed manifest of the package; see [rackboot/protocol/agentpackage].
	Manifest []byte    `json:"manifest"`
	NotAfter time.Time `json:"notAfter"` // hub clock; not begun later
}

// UpgradeStage is how far an agent is with an order.
type UpgradeStage string

// The stages.
const (
	UpgradeFetching UpgradeStage = "Fetching" // the program is being fetched
	UpgradeWaiting  UpgradeStage = "Waiting"  // Code says for what
	UpgradeTrial    UpgradeStage = "Trial"    // the program runs, or is about to, and the hub has not answered it yet
	UpgradeDone     UpgradeStage = "Done"     // the hub has answered it
	UpgradeRefused  UpgradeStage = "Refused"  // Code says why; nothing was changed
	UpgradeReturned UpgradeStage = "Returned" // Code says why; the program before runs
)

// UpgradeStages lists the stages.
func UpgradeStages() []UpgradeStage {
	return []UpgradeStage{UpgradeFetching, UpgradeWaiting, UpgradeTrial, UpgradeDone, UpgradeRefused, UpgradeReturned}
}

// Ended reports whether nothing more is done for the order.
func (s UpgradeStage) Ended() bool {
	return s == UpgradeDone || s == UpgradeRefused || s == UpgradeReturned
}

// UpgradeCode says what an order waits for, or why it was refused or went back.
type UpgradeCode string

// What an order waits for: a restart of the agent would lose or delay it.
const (
	UpgradeWaitsGuard    UpgradeCode = "guard"    // guard mode, or a fault that is guarded
	UpgradeWaitsAttempt  UpgradeCode = "attempt"  // a server is armed for a boot
	UpgradeWaitsFirmware UpgradeCode = "firmware" // firmware is written, or must not be interrupted
	UpgradeWaitsPower    UpgradeCode = "power"    // a power action is under way
	UpgradeWaitsHold     UpgradeCode = "hold"     // a hold is enforced, and its server not yet proved off
	UpgradeWaitsHandover UpgradeCode = "handover" // the rack is given from one agent to the other
	UpgradeWaitsHub      UpgradeCode = "hub"      // the hub is not heard: nothing is tried that it could not answer
	UpgradeWaitsFetch    UpgradeCode = "fetch"    // the program cannot be fetched now; it is tried again
)

// Why an order was refused.
const (
	UpgradeBadSignature  UpgradeCode = "signature"    // no key of the agent's file signed the manifest
	UpgradeBadManifest   UpgradeCode = "manifest"     // it is malformed
	UpgradeNoProgram     UpgradeCode = "architecture" // the package has none for this agent
	UpgradeTooOld        UpgradeCode = "from"         // this agent is older than what may be upgraded to it
	UpgradeBadProtocol   UpgradeCode = "protocol"     // it does not speak the protocol of this agent's hub
	UpgradeLate          UpgradeCode = "late"         // NotAfter is over
	UpgradeBadFile       UpgradeCode = "digest"       // what was fetched is not what the manifest says
	UpgradeNoRoom        UpgradeCode = "room"         // it cannot be written to the agent's disk
	UpgradeNotByLauncher UpgradeCode = "launcher"     // the agent cannot upgrade itself
)

// Why an agent went back to the program before.
const (
	UpgradeExited   UpgradeCode = "exited"    // it ended before the hub had answered it
	UpgradeUnheard  UpgradeCode = "unheard"   // the hub has not answered it in time
	UpgradeUnusable UpgradeCode = "unusable"  // what lies in the slot is not what was put there, or cannot be started
	UpgradeReplaced UpgradeCode = "replaced"  // somebody installed another program on the agent's host meanwhile
	UpgradeBroken   UpgradeCode = "corrupted" // the record of it cannot be read
)

// UpgradeCodes lists the codes.
func UpgradeCodes() []UpgradeCode {
	return []UpgradeCode{
		UpgradeWaitsGuard, UpgradeWaitsAttempt, UpgradeWaitsFirmware, UpgradeWaitsPower, UpgradeWaitsHold, UpgradeWaitsHandover, UpgradeWaitsHub, UpgradeWaitsFetch,
		UpgradeBadSignature, UpgradeBadManifest, UpgradeNoProgram, UpgradeTooOld, UpgradeBadProtocol, UpgradeLate, UpgradeBadFile, UpgradeNoRoom, UpgradeNotByLauncher,
		UpgradeExited, UpgradeUnheard, UpgradeUnusable, UpgradeReplaced, UpgradeBroken,
	}
}

// UpgradeReport is how far an agent is with the last order that it was given, and what it runs.
type UpgradeReport struct {
	// Order is empty before the first; then only Running is said.
	Order   string       `json:"order,omitempty"`
	Stage   UpgradeStage `json:"stage,omitempty"`
	Code    UpgradeCode  `json:"code,omitempty"`
	Message string       `json:"message,omitempty"` // for people
	Since   time.Time    `json:"since,omitzero"`    // of Stage and Code, agent clock
	Running string       `json:"running,omitempty"` // sha256:<hex> of the program that runs
}
