package resource

import (
	"time"

	"rackboot/protocol"
)

// ServerReport is what happened to one server.
type ServerReport struct {
	Server      string               `json:"server"`
	Observation protocol.Observation `json:"observation"`
	// ReadAge is how long before the report Observation was begun, by a clock that nobody
	// sets: the last read that is on the agent's disk, or had nothing to be put there.
	// Absent where there is none since the agent started.
	ReadAge time.Duration `json:"readAge,omitempty"`
	// Power is the last On or Off that was read, also while the BMC does not answer;
	// absent before the first.
	Power      protocol.PowerState `json:"power,omitempty"`
	PowerEpoch uint64              `json:"powerEpoch"`
	// StoppedSince is the first Off of the present run of Off reads.
	StoppedSince *time.Time `json:"stoppedSince,omitempty"`
	// LastPoweredOn is after the last power-on for the present claim and image.
	LastPoweredOn *time.Time `json:"lastPoweredOn,omitempty"`
	// PendingRebootSince is when the server was first wanted off by a hold or reboot
	// since it was last powered on.
	PendingRebootSince *time.Time `json:"pendingRebootSince,omitempty"`
	// ClaimUID is the claim that the agent acts for.
	OwnerUID string `json:"ownerUID,omitempty"`
	// BootGeneration is the generation of the configuration that the agent has, which
	// ArtefactsLocal is of; absent where it has none.
	BootGeneration uint64          `json:"bootGeneration,omitempty"`
	ArtefactsLocal bool            `json:"artefactsLocal,omitempty"`
	Attempt        *AttemptReport  `json:"attempt,omitempty"`
	Holds          []HoldReport    `json:"holds,omitempty"`
	Requests       []RequestReport `json:"requests,omitempty"`
	Provisioned    []byte          `json:"provisioned,omitempty"` // signed
	Released       bool            `json:"released,omitempty"`    // Off proved for a releasing owner; of a discovery also that the server never ran for it
	// Identity names the board and interfaces that the agent has read; empty before.
	Identity string `json:"identity,omitempty"`
	// Architecture is amd64 or arm64 as the server's firmware said it last by DHCP (option 93; DHCPv6
	// option 61), from a MAC address of the Server and with its UUID where both are known. DHCP is
	// not authenticated. Empty: it said none since the agent started.
	Architecture string           `json:"architecture,omitempty"`
	Conditions   []ConditionState `json:"conditions,omitempty"`
	// Account is how far the credentials of secret:NAME have come; absent with local:NAME.
	Account *AccountReport `json:"account,omitempty"`
	// Image is what an image that ran on the server reported last.
	Image *protocol.ImageReport `json:"image,omitempty"`
	// Safety is what the agent's last reading of the inventory says; nil before.
	Safety *protocol.Safety `json:"safety,omitempty"`
	// Unexpected is the transition that nobody has resumed; nil without one.
	Unexpected *protocol.UnexpectedReport `json:"unexpected,omitempty"`
	// Env is what is served of the server's boot environment; nil without one.
	Env *EnvReport `json:"env,omitempty"`
	// Fallback is how often the boot of the server's configuration has failed in a row,
	// and whether the one before is booted instead; nil where there is none to return to.
	Fallback *FallbackReport `json:"fallback,omitempty"`
	// Unreleased is what is recorded of an owner that did not let the server go, and that the agent's
	// documents do not name; nil is nothing.
	Unreleased *UnreleasedReport `json:"unreleased,omitempty"`
	// IdentityChange is what the BMC shows otherwise than what is trusted; nil is nothing. It is
	// accepted by Identity.
	IdentityChange *IdentityChange `json:"identityChange,omitempty"`
	// TPM is the one that is enrolled for the server; nil is none, or an agent that says nothing of it.
	TPM *TPMReport `json:"tpm,omitempty"`
	// Guard is what holds have made of what the server does when mains power returns; nil is nothing.
	Guard *GuardReport `json:"guard,omitempty"`
	// Firmware is what is written into its firmware for its owner, or was; nil is nothing.
	Firmware *FirmwareRun `json:"firmware,omitempty"`
	// Awaits is what the server waits for now; nil is nothing that has a time of its own.
	Awaits *Wait `json:"awaits,omitempty"`
}

// UnreleasedReport is what an agent has recorded of an owner that did not let its server go, and that its
// documents do not name.
type UnreleasedReport struct {
	OwnerUID    string    `json:"ownerUID"`
	Generation  uint64    `json:"generation"`
	ImageDigest string    `json:"imageDigest"`
	At          time.Time `json:"at"`
	// Attempt is how far an attempt has come; empty of a record that a system is installed.
	Attempt AttemptState `json:"attempt,omitempty"`
}

// Condition is what is said by a code; nil if nothing.
func (r *ServerReport) Condition(code ConditionCode) *ConditionState {
	for i := range r.Conditions {
		if r.Conditions[i].Code == code {
			return &r.Conditions[i]
		}
	}
	return nil
}

// FallbackReport counts failed network boots of a configuration that has a message.BootFallback.
type FallbackReport struct {
	Generation uint64     `json:"generation"` // of the configuration that fails
	Failed     int        `json:"failed"`
	Since      *time.Time `json:"since,omitempty"` // when it fell back; nil: it has not
	Reason     string     `json:"reason,omitempty"`
}

// AccountState is how far the credentials of a BMC have come at the agent.
type AccountState string

// The states.
const (
	AccountInUse    AccountState = "InUse"    // they are on the agent's disk, with nothing to change
	AccountChanging AccountState = "Changing" // the next account is not proved yet
	AccountRotated  AccountState = "Rotated"  // the next account was proved, and is in use
	AccountKept     AccountState = "Kept"     // the next account was given up; the former is in use
	AccountLost     AccountState = "Lost"     // the BMC refuses both
)

// AccountStates lists the states.
func AccountStates() []AccountState {
	return []AccountState{AccountInUse, AccountChanging, AccountRotated, AccountKept, AccountLost}
}

// AccountReport says which version of a Secret the agent has for a server's BMC, and
// what came of the change that is in it.
type AccountReport struct {
	Secret  string `json:"secret"`
	UID     string `json:"uid"`
	Version uint64 `json:"version"`
	// Change is the id of the change that the state is about.
	Change string       `json:"change,omitempty"`
	State  AccountState `json:"state"`
	Reason string       `json:"reason,omitempty"`
}

// HoldReport says how far a hold has come at the agent.
type HoldReport struct {
	ID         string    `json:"id"`
	Word       HoldWord  `json:"word"`
	EnforcedAt time.Time `json:"enforcedAt"`
	// Mode is the one that is enforced: a soft hold may have become hard at the hub.
	Mode    StopMode `json:"mode,omitempty"`
	Receipt []byte   `json:"receipt,omitempty"` // signed
	// Hold is the hold itself where the hub's document does not name it: the hub lost
	// it, or it was placed at the agent. The hub takes it over.
	Hold *ActiveHold `json:"hold,omitempty"`
	// State says more than Word; Reason why it is not further.
	State  HoldState `json:"state,omitempty"`
	Reason string    `json:"reason,omitempty"`
	// ExpiredAt is when the time to live was over.
	ExpiredAt *time.Time `json:"expiredAt,omitempty"`
	// Released is set where the hold ended at the agent: somebody released it there, or
	// it expired so. Word is Released then. It is said until the hub's document does
	// not name the hold any more.
	Released *Release `json:"released,omitempty"`
	// Withheld says that the hub's document releases the hold and the agent does not
	// follow it, for want of an approval.
	Withheld bool `json:"withheld,omitempty"`
}

// RequestReport says how a one-shot request ended.
type RequestReport struct {
	ID      string    `json:"id"`
	Outcome Outcome   `json:"outcome"`
	At      time.Time `json:"at"`
	Reason  string    `json:"reason,omitempty"`
}

// AttemptState is how far one power-on has come.
type AttemptState string

// The states, in order. A boot from disk has no Fetched.
const (
	AttemptPreparing      AttemptState = "Preparing"      // grant used on disk, nothing sent
	AttemptArmed          AttemptState = "Armed"          // override written and read back
	AttemptPowerRequested AttemptState = "PowerRequested" // On is about to be sent, or was
	AttemptConsumed       AttemptState = "Consumed"       // firmware took the override
	AttemptFetched        AttemptState = "Fetched"        // the boot file's last byte was sent
	AttemptSucceeded      AttemptState = "Succeeded"
	AttemptFailed         AttemptState = "Failed"
)

// AttemptStates lists all attempt states in order.
func AttemptStates() []AttemptState {
	return []AttemptState{AttemptPreparing, AttemptArmed, AttemptPowerRequested, AttemptConsumed, AttemptFetched, AttemptSucceeded, AttemptFailed}
}

// AttemptReport is one power-on with what it intended and what was seen.
type AttemptReport struct {
	ID       string              `json:"id"`
	State    AttemptState        `json:"state"`
	Since    time.Time           `json:"since"`
	Number   int                 `json:"number"` // of this kind of boot, from 1
	Intended protocol.BootTarget `json:"intended"`
	// Observed is the method that firmware really used; empty until it is known.
	Observed protocol.BootTarget `json:"observed,omitempty"`
	Stored   protocol.Override   `json:"stored"` // the override as it was read back
	// Outcome is what became of the override; the reason says more where it matters.
	Outcome  protocol.BootOutcome  `json:"outcome,omitempty"`
	Evidence protocol.EvidenceKind `json:"evidence,omitempty"`
	Reason   string                `json:"reason,omitempty"`
	// Code is why it failed; empty while it has not.
	Code AttemptCode `json:"code,omitempty"`
	// URI is the boot file's URL with the token removed.
	URI string `json:"uri,omitempty"`
	// Class is how strong the evidence is that it succeeded; empty while it has not.
	Class EvidenceClass `json:"class,omitempty"`
	// Unattested is why a discovery is not attested whose report came, also where that was not enough, by code; empty of others.
	Unattested string `json:"unattested,omitempty"`
	// Secrets is how its user data was given; empty without.
	Secrets SecretsWay `json:"secrets,omitempty"`
	// OwnerUID and Generation are of the configuration that it is for: another owner may have
	// the server by now.
	OwnerUID   string `json:"ownerUID,omitempty"`
	Generation uint64 `json:"generation,omitempty"`
}
