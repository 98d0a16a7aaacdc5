package protocol

import "time"

// ConditionCode names a condition of the registry.
type ConditionCode string

// Severity says how much a condition matters.
type Severity string

// The severities.
const (
	SeverityInfo    Severity = "info"
	SeverityWarning Severity = "warning"
	SeverityError   Severity = "error"
)

// Condition is a registered thing that may be so. Hint says what to do.
type Condition struct {
	Code     ConditionCode
	Title    string
	Severity Severity
	// DependsOn lists conditions that explain this one and hide it.
	DependsOn []ConditionCode
	// TimeToVisible is how long it must be so before people are shown it.
	TimeToVisible time.Duration
	Hint          string
}

// ConditionState says that a condition is so, since when, and the particulars.
type ConditionState struct {
	Code    ConditionCode `json:"code"`
	Since   time.Time     `json:"since"`
	Message string        `json:"message,omitempty"`
}

// The condition codes.
const (
	CondHeld                ConditionCode = "Held"
	CondHoldViolated        ConditionCode = "HoldViolated"
	CondHoldMissing         ConditionCode = "HoldMissing"
	CondServerMissing       ConditionCode = "ServerMissing"
	CondNotSynced           ConditionCode = "NotSynced"
	CondDark                ConditionCode = "Dark"
	CondAgentReplaced       ConditionCode = "AgentReplaced"
	CondDocumentRefused     ConditionCode = "DocumentRefused"
	CondEntryRejected       ConditionCode = "EntryRejected"
	CondStoreFailing        ConditionCode = "StoreFailing"
	CondBMCUnreachable      ConditionCode = "BMCUnreachable"
	CondBMCDenied           ConditionCode = "BMCDenied"
	CondBMCCredentials      ConditionCode = "BMCCredentialsMissing"
	CondBMCBusy             ConditionCode = "BMCBusy"
	CondPowerUnknown        ConditionCode = "PowerUnknown"
	CondUnexpectedPower     ConditionCode = "UnexpectedPower"
	CondServerOn            ConditionCode = "ServerOnBeforeFirstBoot"
	CondPowerFailed         ConditionCode = "PowerActionFailed"
	CondOverrideNotStored   ConditionCode = "OverrideNotStored"
	CondMethodMismatch      ConditionCode = "MethodMismatch"
	CondUnsupportedBoot     ConditionCode = "UnsupportedBoot"
	CondGrantMissing        ConditionCode = "GrantMissing"
	CondGrantInvalid        ConditionCode = "GrantInvalid"
	CondGrantSpent          ConditionCode = "GrantSpent"
	CondFirstBootFailed     ConditionCode = "FirstBootFailed"
	CondArtefactsPending    ConditionCode = "ArtefactsPending"
	CondArtefactsFailed     ConditionCode = "ArtefactsFailed"
	CondInsufficientStorage ConditionCode = "InsufficientStorage"
	CondUnbound             ConditionCode = "Unbound"
	CondImageInvalid        ConditionCode = "ImageInvalid"
	CondRegistryUnavailable ConditionCode = "RegistryUnavailable"
	CondReprovisionRequired ConditionCode = "ReprovisionRequired"
	CondNoAgent             ConditionCode = "NoAgent"
	CondHubUnverified       ConditionCode = "HubUnverified"
	CondHubBehind           ConditionCode = "HubBehind"
	CondTwoHubs             ConditionCode = "TwoHubs"
	CondMessagesRefused     ConditionCode = "MessagesRefused"
	CondNotAcknowledged     ConditionCode = "NotAcknowledged"
	CondAgentTooOld         ConditionCode = "AgentTooOld"
	CondAwaitingHub         ConditionCode = "AwaitingHub"
	CondIdentityChanged     ConditionCode = "IdentityChanged"
	CondBMCPending          ConditionCode = "BMCPending"
	CondBMCInventory        ConditionCode = "BMCInventory"
	CondHoldExpired         ConditionCode = "HoldExpired"
	CondHoldBlocked         ConditionCode = "HoldBlocked"
	CondHoldMalformed       ConditionCode = "HoldMalformed"
	CondRestorePolicy       ConditionCode = "RestorePolicyNotSet"
	CondForeignDHCP         ConditionCode = "ForeignDHCPServer"
	CondBootLoop            ConditionCode = "BootLoop"
	CondAddressConflict     ConditionCode = "AddressConflict"
)

// Conditions is the registry, in the order in which they are explained.
func Conditions() []Condition {
	return []Condition{
		{CondHeld, "Held off", SeverityInfo, nil, 0, "rackctl get holds lists who holds it; it starts again when all of them are released."},
		{CondHoldViolated, "Powered on under a hold", SeverityError, nil, 0, "Something outside Rackboot powered the server on; it was forced off again and its receipt is void. Find who has access to the BMC or the power button."},
		{CondHoldMissing, "Hold missing from the hub's document", SeverityWarning, nil, 0, "The agent keeps enforcing it. The hub learns of it with the next report; then release it by its id. If it stays, the hub is behind its agents: see DocumentRefused."},
		{CondServerMissing, "Server missing from the hub's document", SeverityWarning, nil, 0, "The agent keeps its holds and powers nothing on. Apply the Server again, or release its holds first."},
		{CondNotSynced, "Agent has no intent yet", SeverityWarning, nil, 5 * time.Second, "The agent boots and powers nothing until it has heard from the hub once. Check its connection to the broker."},
		{CondDark, "No report from the agent", SeverityError, nil, 0, "The rack goes on with what it has. Check the agent's host and its connection to the hub."},
		{CondAgentReplaced, "Another agent serves this rack", SeverityError, nil, 0, "Stop this agent. A rack has one active agent; the one that joined last."},
		{CondDocumentRefused, "Document refused", SeverityError, nil, 0, "The signature, the order or the form of a document is wrong. The old document stays in force. Check that hub and agent belong together."},
		{CondEntryRejected, "Server entry refused", SeverityError, nil, 0, "This agent cannot act on the entry, so the old entry stays in force. Upgrade the agent or correct the Server."},
		{CondStoreFailing, "Agent cannot write to its disk", SeverityError, nil, 0, "Free space in the agent's data folder; nothing new is accepted or powered on until it can be recorded."},
		{CondBMCUnreachable, "BMC unreachable", SeverityError, nil, 0, "Check the BMC's address, its cable and the agent's route to it. The server's state is unknown until it answers."},
		{CondBMCDenied, "BMC not trusted, or refuses the credentials", SeverityError, nil, 0, "If the message speaks of a certificate, compare it at the BMC and correct spec.tls of the BMC resource. Else correct the credentials file at the agent. Neither is tried again until it changes, so that the BMC does not lock the account."},
		{CondBMCCredentials, "BMC credentials missing", SeverityError, nil, 0, "Create the file that credentialsRef names in the agent's credentials folder, readable by the agent only."},
		{CondBMCBusy, "BMC busy", SeverityInfo, nil, 60 * time.Second, "The BMC asked for a pause; the agent tries again by itself."},
		{CondPowerUnknown, "Power state unknown", SeverityWarning, []ConditionCode{CondBMCUnreachable, CondBMCDenied}, 0, "The BMC answers without a usable power state; nothing that needs one is done."},
		{CondUnexpectedPower, "Unexpected power transition", SeverityWarning, nil, 0, "The server changed its power without an order of Rackboot. rackctl reboot resumes it."},
		{CondServerOn, "Server is On before its first boot", SeverityWarning, nil, 0, "A first boot starts from Off only. Make sure that nothing of value runs on the server, then power it off or use rackctl reboot."},
		{CondPowerFailed, "Power action failed", SeverityError, []ConditionCode{CondBMCUnreachable, CondBMCDenied}, 0, "The BMC refused or dropped the power action; the agent goes on trying. See the message."},
		{CondOverrideNotStored, "Boot override not stored", SeverityError, nil, 0, "The BMC accepted the override and kept something else; the server was not powered on."},
		{CondMethodMismatch, "Firmware booted by another method", SeverityError, nil, 0, "The override was not honoured. Check the boot order and that HTTP boot is enabled in the firmware settings."},
		{CondUnsupportedBoot, "Boot method not served", SeverityError, nil, 0, "This release network-boots by UefiHttp and Pxe, an image with a UKI."},
		{CondGrantMissing, "No grant for the first boot", SeverityWarning, nil, 5 * time.Second, "The hub has not sent a grant for this claim; see the claim's conditions."},
		{CondGrantInvalid, "Grant does not fit", SeverityError, nil, 0, "The grant's signature, server, image or claim differs from the configuration; nothing is booted. Check that hub and agent belong together."},
		{CondGrantSpent, "Grant is used up", SeverityError, nil, 0, "The first boot was tried as often as the grant allows, or its boot file was fetched without an installed report. Delete the claim and create it again to allow another first boot."},
		{CondFirstBootFailed, "First boot failed", SeverityError, nil, 0, "See the attempt's reason. It is tried again while the grant allows it and nothing was fetched."},
		{CondArtefactsPending, "Boot files are being fetched", SeverityInfo, nil, 30 * time.Second, "The server is powered on when every file is local and verified."},
		{CondArtefactsFailed, "Boot files could not be fetched", SeverityError, nil, 0, "Check the registry that the message names, from the agent's host. The agent goes on trying."},
		{CondInsufficientStorage, "Not enough disk for boot files", SeverityError, nil, 0, "Free space in the agent's data folder or raise its blob quota."},
		{CondUnbound, "No server for the claim", SeverityWarning, nil, 0, "No server matches, or all that match are taken, held, or not known to be Off."},
		{CondImageInvalid, "Image does not fit the boot policy", SeverityError, nil, 0, "Pxe needs a kernel and an initramfs, UefiHttp needs a UKI, each for the server's architecture. Nothing was changed on the server."},
		{CondRegistryUnavailable, "Registry unavailable", SeverityWarning, nil, 0, "The hub could not ask the registry for the image; it tries again by itself."},
		{CondReprovisionRequired, "Claim differs from what was booted", SeverityWarning, nil, 0, "The server keeps its installed system. To install the new image, delete the claim and create it again."},
		{CondHubUnverified, "Hub not verified", SeverityWarning, nil, 0, "The agent has had no fresh word of the hub for ten minutes, or none since it started. It goes on with what it has. Check the hub, and whether the broker holds messages back."},
		{CondHubBehind, "Hub is behind its agents", SeverityError, nil, 0, "The hub was restored from a copy: the agent has newer documents than the hub ever made. It makes none for this agent until you stop it and run rackboot-hub restored."},
		{CondTwoHubs, "Two hubs at once", SeverityError, nil, 0, "Another hub with this hub's keys speaks to the agent, which heeds the one that started last. Stop the other one."},
		{CondMessagesRefused, "Messages fail verification", SeverityError, nil, 0, "Messages arrive that were forged, changed, cut short or moved to another topic, and are not heeded. Look for who writes to the broker: see the message."},
		{CondNotAcknowledged, "Documents not acknowledged", SeverityWarning, []ConditionCode{CondDark}, time.Minute, "The agent's reports arrive and its acknowledgements do not. Look at the agent's conditions, and whether the broker holds messages back."},
		{CondAgentTooOld, "Agent too old", SeverityWarning, nil, 0, "The agent cannot do what is asked for, so it was not asked. Upgrade the agent; see the message."},
		{CondAwaitingHub, "Waits for the hub's word", SeverityWarning, nil, 30 * time.Second, "A first boot or a one-shot is not begun before the hub has been heard since the agent started: the agent's disk may be an old copy. Holds and boots from disk do not wait."},
		{CondIdentityChanged, "Board or interfaces changed", SeverityError, nil, 0, "The BMC shows another serial number, UUID or set of MAC addresses than before: a board was changed, or the BMC is another server's. Nothing is powered on. If it is right, rackctl server accept SERVER."},
		{CondBMCPending, "BMC found and not accepted", SeverityInfo, nil, 0, "No credentials are tried before somebody accepts it: compare the fingerprint at the BMC, then rackctl bmc accept BMC --credentials local:NAME."},
		{CondBMCInventory, "Servers and the BMC's inventory do not agree", SeverityWarning, []ConditionCode{CondBMCPending, CondDark}, 30 * time.Second, "What is behind the BMC could not be read, or no Server could be made from it, or a Server says something else; see the message. Reading is tried again by itself; a Server that exists is never changed."},
		{CondHoldExpired, "Hold has expired and is kept", SeverityWarning, nil, 0, "Its time to live is over, and it was placed with onExpiry: keep. Its owner, or an operator by break-glass, releases it: rackctl get holds."},
		{CondHoldBlocked, "Hold waits for firmware work", SeverityError, nil, 0, "The server is not stopped while its firmware is changed; it is not proved off. Wait, end the mark with rackctl server firmware SERVER --done, or place a hold with --force-during-firmware."},
		{CondHoldMalformed, "Hold cannot be read", SeverityError, nil, 0, "A hold came with a mode or an expiry that this agent does not know. It is enforced as a soft hold without an expiry. Release it and place it again."},
		{CondRestorePolicy, "Power restore policy not set", SeverityWarning, []ConditionCode{CondBMCUnreachable, CondBMCDenied}, 30 * time.Second, "The BMC may power the held server on when mains power returns; it would be forced off again. See the message; where the BIOS has the setting, set it there."},
		{CondForeignDHCP, "Another DHCP server on the segment", SeverityWarning, nil, 0, "Firmware may take its offer instead of ours and boot what it says, or wait for nothing. Take it off the segment, or set spec.service.mode of the Segment to proxy."},
		{CondBootLoop, "Boot loop", SeverityWarning, nil, 0, "A machine asked for the same boot again and again, and is refused for a while. See what is on its console: most often the boot file does not fit its firmware."},
		{CondAddressConflict, "Address used by somebody else", SeverityWarning, nil, 0, "A machine uses an address of the pool, or a reserved one, that it was not given. It is not offered for a while. Give that machine a reservation, or correct its configuration."},
		{CondNoAgent, "Rack has no agent", SeverityWarning, nil, 0, "rackctl rack join-token RACK prints the command that joins one."},
	}
}

// LookupCondition finds a condition by its code.
func LookupCondition(code ConditionCode) (Condition, bool) {
	for _, c := range Conditions() {
		if c.Code == code {
			return c, true
		}
	}
	return Condition{}, false
}
