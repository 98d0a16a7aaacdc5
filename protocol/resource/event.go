package resource

import "time"

// EventCode names something that happened.
type EventCode string

// The event codes, roughly in the order of a server's first boot.
const (
	EventGrantUsed      EventCode = "GrantUsed"
	EventArtefactsLocal EventCode = "ArtefactsLocal"
	EventArmed          EventCode = "OverrideArmed"
	EventPowerOn        EventCode = "PowerOnRequested"
	EventConsumed       EventCode = "OverrideConsumed"
	EventDHCPSeen       EventCode = "DHCPSeen"
	EventFetched        EventCode = "BootFileFetched"
	EventInstalled      EventCode = "InstalledReported"
	EventProvisioned    EventCode = "Provisioned"
	EventDiskBoot       EventCode = "DiskBoot"
	EventFellBack       EventCode = "FellBack"
	EventAttemptFailed  EventCode = "AttemptFailed"
	EventStopping       EventCode = "Stopping"
	EventStopped        EventCode = "Stopped"
	EventHoldEnforced   EventCode = "HoldEnforced"
	EventFenced         EventCode = "Fenced"
	EventHoldViolated   EventCode = "HoldViolated"
	EventReceiptVoid    EventCode = "ReceiptVoid" // the watch that it rests on has a hole; nothing was seen to run
	EventHoldReleased   EventCode = "HoldReleased"
	EventUnexpected     EventCode = "UnexpectedPower"
	EventMismatch       EventCode = "MethodMismatch"
	EventRequestEnded   EventCode = "RequestEnded"
	EventReleased       EventCode = "ServerReleased"
	EventLost           EventCode = "EventsLost"
	EventJoined         EventCode = "AgentJoined"
	EventBound          EventCode = "ClaimBound"
	EventResolved       EventCode = "ImageResolved"
	EventRenewed        EventCode = "AgentDiskChanged"
	EventFoundBMC       EventCode = "BMCFound"
	EventAcceptedBMC    EventCode = "BMCAccepted"
	EventIdentity       EventCode = "IdentityChanged"
	EventTPM            EventCode = "ServerTPM" // enrolled, forgotten, or another one was offered

	EventHoldAccepted    EventCode = "HoldAccepted"        // at the hub
	EventReleaseAccepted EventCode = "HoldReleaseAccepted" // at the hub
	EventHoldAdopted     EventCode = "HoldAdopted"         // at the hub
	EventHoldReturned    EventCode = "HoldReturned"        // at the hub: it was released, and an agent has it again
	EventHoldExpired     EventCode = "HoldExpired"
	EventHoldConfirmed   EventCode = "HoldConfirmedDown"
	EventHoldBlocked     EventCode = "HoldBlocked"
	EventFirmwareWork    EventCode = "FirmwareWork" // at the hub: begun or ended
	EventFirmwareRun     EventCode = "FirmwareSettings"
	EventOrdered         EventCode = "PowerOrdered"
	EventAnswered        EventCode = "PowerOrderAnswered"
	EventPowerSeen       EventCode = "PowerSeen"
	EventRestorePolicy   EventCode = "RestorePolicySet"
	EventForeignDHCP     EventCode = "ForeignDHCPServer"
	EventAddressSpoofed  EventCode = "AddressSpoofed"
	EventBootLoop        EventCode = "BootLoop"
	EventAddressConflict EventCode = "AddressConflict"
	EventApproval        EventCode = "Approval" // asked, granted, denied, signed, ended, or used at the agent

	// At the hub.
	EventRevoked     EventCode = "AgentRevoked"
	EventSuperseded  EventCode = "AgentSuperseded"
	EventFailover    EventCode = "Failover"
	EventSettled     EventCode = "FailoverSettled"
	EventCertified   EventCode = "CertificateRenewed"
	EventAgentCopied EventCode = "AgentCopied"
	EventAgentKept   EventCode = "AgentKept"
	// EventAgentRolledBack says that the disk of an agent is an older copy of itself.
	EventAgentRolledBack EventCode = "AgentRolledBack"
	EventNoRouter        EventCode = "NoRouterAdvertisement"
	EventRouterFlags     EventCode = "RouterFlags"
	EventNoAddress       EventCode = "NoAddress"

	EventSegmentRolledBack EventCode = "SegmentRolledBack"

	EventUserDataDelivered EventCode = "UserDataDelivered"
	EventUserDataRefused   EventCode = "UserDataRefused"
	EventReportRefused     EventCode = "ReportRefused"
	EventTwoClaimants      EventCode = "TwoClaimants"
	EventOverrideLeft      EventCode = "OverrideLeftArmed" // the BMC keeps it against our will
	EventMediaInserted     EventCode = "MediaInserted"
	EventMediaEjected      EventCode = "MediaEjected"
	EventBootURLCleared    EventCode = "BootURLCleared" // the BMC has the URL of an attempt no more
	EventMaintenance       EventCode = "Maintenance"    // at the hub: each of its states, and its end
	EventImageRefused      EventCode = "ImageRefused"   // at the hub: a claim's image cannot be booted, or not be had
	EventAdopted           EventCode = "Adopted"        // at the hub: a server's system is taken over, or given up, by somebody's word
	EventAttemptBegun      EventCode = "AttemptBegun"
	EventSafeStopped       EventCode = "SafeStopped"
	EventResumed           EventCode = "Resumed"
	EventDiscovery         EventCode = "Discovery"    // asked, begun, why it waits, and how it ended
	EventGroup             EventCode = "ServerGroup"  // at the hub: a revision, a stamp, or somebody's word
	EventBootEnv           EventCode = "BootEnv"      // at the hub: refused, changed, or in force
	EventAgentUpgrade      EventCode = "AgentUpgrade" // at the hub: a roll-out of a release of agents, or a package of it
	EventUploadedFile      EventCode = "UploadedFile" // at the hub: uploaded, replaced or removed
	EventBootImage         EventCode = "BootImage"    // at the hub: verified, or not
	EventGuardMode         EventCode = "GuardMode"    // of an agent: begun, or over
	EventLossAccepted      EventCode = "LossAccepted" // somebody says that an agent's database is lost
)

// EventCodes lists all event codes.
func EventCodes() []EventCode {
	return []EventCode{
		EventGrantUsed, EventArtefactsLocal, EventArmed, EventPowerOn, EventConsumed, EventDHCPSeen,
		EventFetched, EventInstalled, EventProvisioned, EventDiskBoot, EventFellBack, EventAttemptFailed, EventStopping,
		EventStopped, EventHoldEnforced, EventFenced, EventHoldViolated, EventReceiptVoid, EventHoldReleased, EventUnexpected,
		EventMismatch, EventRequestEnded, EventReleased, EventLost, EventJoined, EventBound, EventResolved, EventRenewed,
		EventFoundBMC, EventAcceptedBMC, EventIdentity, EventTPM,
		EventHoldAccepted, EventReleaseAccepted, EventHoldAdopted, EventHoldReturned, EventHoldExpired, EventHoldConfirmed, EventHoldBlocked,
		EventFirmwareWork, EventFirmwareRun, EventOrdered, EventAnswered, EventPowerSeen, EventRestorePolicy,
		EventRevoked, EventSuperseded, EventFailover, EventSettled, EventCertified, EventAgentCopied, EventAgentKept, EventAgentRolledBack,
		EventForeignDHCP, EventAddressSpoofed, EventBootLoop, EventAddressConflict, EventNoRouter, EventRouterFlags, EventNoAddress, EventSegmentRolledBack, EventApproval,
		EventUserDataDelivered, EventUserDataRefused, EventReportRefused, EventTwoClaimants, EventMaintenance,
		EventMediaInserted, EventMediaEjected, EventBootURLCleared, EventOverrideLeft,
		EventImageRefused, EventAdopted, EventAttemptBegun,
		EventSafeStopped, EventResumed, EventDiscovery, EventGroup, EventBootEnv, EventUploadedFile, EventBootImage,
		EventGuardMode, EventLossAccepted, EventAgentUpgrade,
	}
}

// Event is one thing that happened at an agent, in order. The hub's own events
// have Seq 0.
type Event struct {
	Seq uint64 `json:"seq"`
	// From is the first number of a run that was lost; Seq is its last. Only events
	// of the code EventsLost have it.
	From    uint64    `json:"from,omitempty"`
	At      time.Time `json:"at"`
	Server  string    `json:"server,omitempty"`
	Code    EventCode `json:"code"`
	Message string    `json:"message,omitempty"`
}
