package resource

import (
	"slices"
	"time"
)

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
	CondHeld                     ConditionCode = "Held"
	CondHoldViolated             ConditionCode = "HoldViolated"
	CondHoldMissing              ConditionCode = "HoldMissing"
	CondServerMissing            ConditionCode = "ServerMissing"
	CondNotSynced                ConditionCode = "NotSynced"
	CondDark                     ConditionCode = "Dark"
	CondAgentReplaced            ConditionCode = "AgentReplaced"
	CondAgentUnknown             ConditionCode = "AgentUnknown"
	CondDocumentRefused          ConditionCode = "DocumentRefused"
	CondEntryRejected            ConditionCode = "EntryRejected"
	CondGuardMode                ConditionCode = "GuardMode"
	CondGuardSetVolatile         ConditionCode = "GuardSetVolatile"
	CondStale                    ConditionCode = "Stale"
	CondBMCUnreachable           ConditionCode = "BMCUnreachable"
	CondBMCDenied                ConditionCode = "BMCDenied"
	CondBMCCredentials           ConditionCode = "BMCCredentialsMissing"
	CondBMCBusy                  ConditionCode = "BMCBusy"
	CondPowerUnknown             ConditionCode = "PowerUnknown"
	CondUnexpectedPower          ConditionCode = "UnexpectedPower"
	CondServerOn                 ConditionCode = "ServerOnBeforeFirstBoot"
	CondPowerOffDisabled         ConditionCode = "PowerOffDisabled"
	CondPowerFailed              ConditionCode = "PowerActionFailed"
	CondForceOffIgnored          ConditionCode = "ForceOffIgnored"
	CondForcedUnread             ConditionCode = "ForcedOffUnread"
	CondTaskFailed               ConditionCode = "BMCTaskFailed"
	CondETagsRefused             ConditionCode = "BMCRefusesETags"
	CondSessionsFull             ConditionCode = "BMCSessionsFull"
	CondBMCSlow                  ConditionCode = "BMCAnswersSlowly"
	CondBMCCut                   ConditionCode = "BMCAnswerCut"
	CondSystemNotFound           ConditionCode = "SystemNotFound"
	CondSystemAmbiguous          ConditionCode = "SystemAmbiguous"
	CondOverrideLeft             ConditionCode = "OverrideLeftArmed"
	CondOverrideNotStored        ConditionCode = "OverrideNotStored"
	CondMethodMismatch           ConditionCode = "MethodMismatch"
	CondTwoClaimants             ConditionCode = "TwoClaimants"
	CondSecretsWait              ConditionCode = "SecretsWait"
	CondEvidenceWaits            ConditionCode = "EvidenceWaits"
	CondEvidenceWeak             ConditionCode = "EvidenceWeak"
	CondUnsupportedBoot          ConditionCode = "UnsupportedBoot"
	CondNoBootChain              ConditionCode = "NoBootChain"
	CondLoadersInvalid           ConditionCode = "LoadersInvalid"
	CondGrantMissing             ConditionCode = "GrantMissing"
	CondGrantInvalid             ConditionCode = "GrantInvalid"
	CondGrantSpent               ConditionCode = "GrantSpent"
	CondFirstBootFailed          ConditionCode = "FirstBootFailed"
	CondArtefactsPending         ConditionCode = "ArtefactsPending"
	CondArtefactsFailed          ConditionCode = "ArtefactsFailed"
	CondInsufficientStorage      ConditionCode = "InsufficientStorage"
	CondUnbound                  ConditionCode = "Unbound"
	CondImageInvalid             ConditionCode = "ImageInvalid"
	CondArchitectureUnknown      ConditionCode = "ArchitectureUnknown"
	CondArchitectureContradicted ConditionCode = "ArchitectureContradicted"
	CondImageNotFound            ConditionCode = "ImageNotFound"
	CondImageLookup              ConditionCode = "ImageLookup"
	CondRegistryUnavailable      ConditionCode = "RegistryUnavailable"
	CondReprovisionRequired      ConditionCode = "ReprovisionRequired"
	CondBootUnderWay             ConditionCode = "BootUnderWay"
	CondNoAgent                  ConditionCode = "NoAgent"
	CondNoStandby                ConditionCode = "NoStandby"
	CondTakenOver                ConditionCode = "TakenOver"
	CondFrozen                   ConditionCode = "Frozen"
	CondHubUnverified            ConditionCode = "HubUnverified"
	CondHubBehind                ConditionCode = "HubBehind"
	CondTwoHubs                  ConditionCode = "TwoHubs"
	CondStoreLost                ConditionCode = "StoreLost"
	CondMessagesRefused          ConditionCode = "MessagesRefused"
	CondNotAcknowledged          ConditionCode = "NotAcknowledged"
	CondAgentTooOld              ConditionCode = "AgentTooOld"
	CondAwaitingHub              ConditionCode = "AwaitingHub"
	CondIdentityChanged          ConditionCode = "IdentityChanged"
	CondBMCPending               ConditionCode = "BMCPending"
	CondBMCInventory             ConditionCode = "BMCInventory"
	CondBMCLegacyTLS             ConditionCode = "BMCLegacyTLS"
	CondFirmwareDrift            ConditionCode = "FirmwareDrift"
	CondFirmwareConflict         ConditionCode = "FirmwareProfileConflict"
	CondMACShared                ConditionCode = "MACShared"
	CondHoldExpired              ConditionCode = "HoldExpired"
	CondHoldBlocked              ConditionCode = "HoldBlocked"
	CondHoldMalformed            ConditionCode = "HoldMalformed"
	CondRestorePolicy            ConditionCode = "RestorePolicyNotSet"
	CondForeignDHCP              ConditionCode = "ForeignDHCPServer"
	CondAddressSpoofed           ConditionCode = "AddressSpoofed"
	CondBootLoop                 ConditionCode = "BootLoop"
	CondAddressConflict          ConditionCode = "AddressConflict"
	CondPoolExhausted            ConditionCode = "PoolExhausted"
	CondNoAddress                ConditionCode = "NoAddress"
	CondApprovalNeeded           ConditionCode = "ApprovalNeeded"
	CondReleaseNotApproved       ConditionCode = "ReleaseNotApproved"
	CondApprovalRefused          ConditionCode = "ApprovalRefused"
	CondWipeNotApproved          ConditionCode = "WipeNotApproved"
	CondFirmwareNotApproved      ConditionCode = "FirmwareNotApproved"
	CondFirmwareNotWritten       ConditionCode = "FirmwareNotWritten"
	CondInstallNotApproved       ConditionCode = "InstallNotApproved"
	CondRevoked                  ConditionCode = "Revoked"
	CondSuperseded               ConditionCode = "Superseded"
	CondCertificateExpiring      ConditionCode = "CertificateExpiring"
	CondClockBehind              ConditionCode = "ClockBehind"
	CondClockAhead               ConditionCode = "ClockAhead"
	CondHubClock                 ConditionCode = "HubClockWrong"
	CondClocksDiffer             ConditionCode = "ClocksDiffer"
	CondTimeDamaged              ConditionCode = "TimeFloorDamaged"
	CondKeysRefused              ConditionCode = "KeysRefused"
	CondAgentCopied              ConditionCode = "AgentCopied"
	CondAgentRolledBack          ConditionCode = "AgentRolledBack"
	CondNoRouter                 ConditionCode = "NoRouterAdvertisement"
	CondRouterFlags              ConditionCode = "RouterFlags"
	CondIPv6NotServed            ConditionCode = "IPv6NotServed"
	CondSegmentRolledBack        ConditionCode = "SegmentRolledBack"
	CondSegmentOnTrial           ConditionCode = "SegmentOnTrial"
	CondSecretUnreadable         ConditionCode = "SecretUnreadable"
	CondSecretNotSealed          ConditionCode = "SecretNotSealed"
	CondCredentialsSealed        ConditionCode = "CredentialsUnreadable"
	CondRotating                 ConditionCode = "CredentialsRotating"
	CondRotationFailed           ConditionCode = "CredentialsRotationFailed"
	CondUserDataInvalid          ConditionCode = "UserDataInvalid"
	CondUserDataNotSealed        ConditionCode = "UserDataNotSealed"
	CondMediaOccupied            ConditionCode = "MediaOccupied"
	CondMediaNotEjected          ConditionCode = "MediaNotEjected"
	CondNoConfigDrive            ConditionCode = "NoConfigDrive"
	CondBootURLNotCleared        ConditionCode = "BootURLNotCleared"
	CondNeedsDecision            ConditionCode = "NeedsDecision"
	CondOrphaned                 ConditionCode = "Orphaned"
	CondSafeStopped              ConditionCode = "SafeStopped"
	CondNoStopImage              ConditionCode = "NoStopImage"
	CondDiscoveryFailed          ConditionCode = "DiscoveryFailed"
	CondDiscoveryAmbiguous       ConditionCode = "DiscoveryAmbiguous"
	CondBootEnvInvalid           ConditionCode = "BootEnvInvalid"
	CondBootEnvNotSealed         ConditionCode = "BootEnvNotSealed"
	CondBootEnvRefused           ConditionCode = "BootEnvRefused"
	CondRemoteRepo               ConditionCode = "RemoteRepo"
	CondFellBack                 ConditionCode = "FellBack"
	CondWaitingForStamp          ConditionCode = "WaitingForStamp"
	CondImagesProgressing        ConditionCode = "BootImageUpdateProgressing"
	CondImagesDegraded           ConditionCode = "BootImageUpdateDegraded"
	CondImagesDeferred           ConditionCode = "BootImageUpdateDeferred"
	CondGroupSkipped             ConditionCode = "GroupSkipped"
	CondGroupConflict            ConditionCode = "GroupConflict"
	CondGroupHotLoop             ConditionCode = "GroupHotLoop"
	CondNoRevision               ConditionCode = "NoGroupRevision"
	CondStubRefused              ConditionCode = "StubRefused"
	CondStubCAExpiring           ConditionCode = "StubCAExpiring"
	CondStubCAMismatch           ConditionCode = "StubCAMismatch"
	CondRolloutPaused            ConditionCode = "RolloutPaused"
	CondAgentNoUpgrade           ConditionCode = "AgentNoUpgrade"
	CondAgentPackageMissing      ConditionCode = "AgentPackageMissing"
	CondAgentUpgradeFailed       ConditionCode = "AgentUpgradeFailed"
	CondRolloutFailed            ConditionCode = "RolloutFailed"
	CondImageSkew                ConditionCode = "BootImageSkew"
	CondImageUnverified          ConditionCode = "BootImageUnverified"
)

// conditions is the registry, in the order in which they are explained.
var conditions = []Condition{
	{CondHeld, "Held off", SeverityInfo, nil, 0, "rackctl get holds lists who holds it; it starts again when all of them are released."},
	{CondHoldViolated, "Powered on under a hold", SeverityError, nil, 0, "Something outside Rackboot powered the server on; it was forced off again and its receipt is void. Find who has access to the BMC or the power button."},
	{CondHoldMissing, "Hold missing from the hub's document", SeverityWarning, nil, 0, "The agent keeps enforcing it. The hub learns of it with the next report; then release it by its id. If it stays, the hub is behind its agents: see DocumentRefused."},
	{CondServerMissing, "Server missing from the hub's document", SeverityWarning, nil, 0, "The agent keeps its holds and powers nothing on. Apply the Server again; what is to run again needs its holds released too."},
	{CondNotSynced, "Agent has no intent yet", SeverityWarning, nil, 5 * time.Second, "The agent boots and powers nothing until it has heard from the hub once. Check its connection to the broker."},
	{CondDark, "No report from the agent", SeverityError, nil, 0, "The rack goes on with what it has. Check the agent's host and its connection to the hub. With a broker of your own whose users are written down, rackboot-hub broker-config --check FILE says whether it lets this agent in."},
	{CondAgentReplaced, "Another agent serves this rack", SeverityError, nil, 0, "Stop this agent. A rack has one active agent; the one that joined last."},
	{CondAgentUnknown, "The hub has no record of this agent", SeverityError, nil, 0, "Keep the agent running: its holds stay enforced. If the hub was emptied, or restored from a copy that is older than the agent, restore its newest copy; else join the agent again: rackctl rack join-token RACK."},
	{CondDocumentRefused, "Document refused", SeverityError, nil, 0, "The signature, the order or the form of a document is wrong. The old document stays in force. Check that hub and agent belong together."},
	{CondEntryRejected, "Server entry refused", SeverityError, nil, 0, "This agent cannot act on the entry, so the old entry stays in force. Upgrade the agent or correct the Server."},
	{CondStale, "Last recorded read is old", SeverityError, []ConditionCode{CondDark, CondNoAgent, CondBMCUnreachable, CondBMCDenied, CondBMCCredentials}, 30 * time.Second, "Whether the server runs now is not known: what is said of it is older than three polls. Look at GuardMode and the conditions of its agent and BMC; a receipt of before proves nothing of now."},
	{CondGuardMode, "Agent guards only", SeverityError, nil, 0, "The agent has no store that it can write to; see the message. It goes on forcing off what was held, stays silent to the firmware of its servers, and does nothing else. Nothing of its rack counts as proved off. Free space in its data folder, or mend the disk; the agent leaves guard mode by itself, and proves anew. If the message says that the database is lost: rackboot-agent accept-loss --reason REASON on its host."},
	{CondGuardSetVolatile, "Agent's guard set is in memory only", SeverityWarning, nil, 0, "If the agent's process ends while its store cannot be opened, it does not know what to guard. Put its data folder on a file system that writes in place, such as ext4 or XFS, and see that it can be written."},
	{CondBMCUnreachable, "BMC unreachable", SeverityError, nil, 0, "Check the BMC's address, its cable and the agent's route to it. The server's state is unknown until it answers."},
	{CondBMCDenied, "BMC not trusted, or refuses the credentials", SeverityError, nil, 0, "If the message speaks of a certificate, compare it at the BMC and correct spec.tls of the BMC resource; of TLS that is too old, update the BMC's firmware or set spec.tls.legacy. Else set the Secret again, or correct the credentials file at the agent; where the password must be changed first, change it at the BMC's page before. Neither is tried again until it changes, so that the BMC does not lock the account."},
	{CondBMCCredentials, "BMC credentials missing", SeverityError, nil, 0, "Create the file that credentialsRef names in the agent's credentials folder, readable by the agent only."},
	{CondBMCBusy, "BMC busy", SeverityInfo, nil, 60 * time.Second, "The BMC asked for a pause; the agent tries again by itself."},
	{CondPowerUnknown, "Power state unknown", SeverityWarning, []ConditionCode{CondBMCUnreachable, CondBMCDenied}, 0, "The BMC answers without a usable power state; nothing that needs one is done. See the message. A word such as Reset passes by itself. Else restart the BMC, and if it stays so, update its firmware; where it redirects, or its lists do not end, check that the address is the BMC's own."},
	{CondUnexpectedPower, "Unexpected power transition", SeverityWarning, nil, 0, "The server changed its power without an order of Rackboot; the message says what is known of where it stands. rackctl resume SERVER --reason REASON boots it as its claim says."},
	{CondServerOn, "Server is On before its first boot", SeverityWarning, nil, 0, "A first boot starts from Off only. Make sure that nothing of value runs on the server, then power it off or use rackctl reboot."},
	{CondPowerOffDisabled, "Server is not powered off", SeverityWarning, nil, 0, "Something wants the server Off, and spec.disablePowerOff says that Rackboot never does that; what waits goes on once it is Off. Power it off yourself, or take the field out of the Server."},
	{CondPowerFailed, "Power action failed", SeverityError, []ConditionCode{CondBMCUnreachable, CondBMCDenied}, 0, "The BMC refused or dropped the power action; the agent goes on trying. See the message."},
	{CondForceOffIgnored, "Server does not go off", SeverityError, []ConditionCode{CondBMCUnreachable, CondBMCDenied}, 0, "The BMC took ForceOff twice and the server runs on. The agent sends it again by itself, at most a minute apart. Restart the BMC, or cut the server's power and confirm it: rackctl confirm-down."},
	{CondForcedUnread, "Forced off without a power state", SeverityError, nil, 0, "A hard hold lies on the server and its power state cannot be read, so ForceOff is sent all the same, less and less often. That proves nothing: there is no receipt until the BMC shows Off. Restart the BMC, or look at the server and confirm it: rackctl confirm-down."},
	{CondTaskFailed, "BMC could not do what it took", SeverityError, []ConditionCode{CondBMCUnreachable, CondBMCDenied}, 0, "The BMC took the reset as a Task, and the Task failed; the message has its words. The agent sends it again less and less often. Look at the BMC's log for power and hardware faults, and restart the BMC."},
	{CondETagsRefused, "BMC refuses every ETag", SeverityError, nil, 0, "No boot override can be written: the BMC refuses its own ETags, a write without one, and any. Update its firmware. The agent tries again less and less often, and does not power the server on meanwhile."},
	{CondSessionsFull, "BMC has no session left", SeverityWarning, nil, 0, "The agent goes on with basic authentication and tries a session again every 10 minutes. End sessions that nobody uses at the BMC's page, and look for who opens them."},
	{CondBMCSlow, "BMC does not end its answers", SeverityError, []ConditionCode{CondBMCDenied}, 0, "Answers begin and do not end in time, so that the server's state is unknown. The address and the cable are right. Restart the BMC, and look for who else loads it."},
	{CondBMCCut, "BMC's answers are cut off", SeverityError, []ConditionCode{CondBMCDenied}, 0, "Answers end in the middle, so that the server's state is unknown. The agent reads again less and less often. Restart the BMC; if it stays so, update its firmware."},
	{CondSystemNotFound, "System not found at the BMC", SeverityError, []ConditionCode{CondBMCUnreachable, CondBMCDenied}, 0, "Its path is 404 at the BMC, or another machine's, and no system there has the UUID and serial number that the server is known by. Correct spec.systemURI of the Server, or spec.bmcRef."},
	{CondSystemAmbiguous, "Several systems fit the server", SeverityError, []ConditionCode{CondBMCUnreachable, CondBMCDenied}, 0, "The system is no more at its path, and more than one at the BMC has its UUID and serial number. Nothing is sent. Set spec.systemURI of the Server to the right one; the message names them."},
	{CondOverrideLeft, "Boot override stays armed", SeverityWarning, nil, 0, "The BMC took away neither the override nor put another in its place; the message says which one stays. Whoever powers the server on by hand boots it. The agent's next power-on writes its own override first, or is not sent. Clear it at the BMC's page, and update its firmware."},
	{CondOverrideNotStored, "Boot override not stored", SeverityError, nil, 0, "The BMC kept another override than was written, or did not say in time that it kept it; the server was not powered on. rackctl bmc probe shows what the BMC can store: update its firmware, or choose another first boot."},
	{CondMethodMismatch, "Firmware booted by another method", SeverityError, nil, 0, "The override was not honoured. Check the boot order and that HTTP boot is enabled in the firmware settings."},
	{CondTwoClaimants, "Two machines say that they are the server", SeverityError, nil, 0, "The message describes both. Find the other one by its MAC address and switch port, and take it off the boot segment. One that does not fit what is known was refused, and changes nothing; if it is the server itself, correct spec.uuid or spec.architecture of the Server. Where both fit, no secret goes over the segment and no report from it counts until the next boot: look at the console, then rackctl resume SERVER --retry --reason REASON."},
	{CondSecretsWait, "User data has no way through the BMC", SeverityError, nil, 0, "The server was not powered on: its user data would go over the boot segment, where others may read it. Give it a way through the BMC, which the message names; or accept that, by spec.secrets: segment of the claim, its group or the rack."},
	{CondEvidenceWaits, "Required evidence cannot be had", SeverityError, nil, 0, "The server was not powered on: spec.requireEvidence of its claim, group or rack is observed, and that needs a way through the BMC, which the message names; or it is attested, and the discovery's image or segment does not permit that. Give it what the message names, or require less."},
	{CondEvidenceWeak, "Report is not enough", SeverityError, nil, 0, "An image reported over the boot segment that its work is done, and spec.requireEvidence is observed: the report counts when it comes by the URL on the config image or in the BMC's boot URL. Have the image report by that, as rackboot-probe does; and look whether it was the server at all. Where attested is required, the message begins with the code of why the server's TPM has not proved the boot: docs/guide/attest.md says what to do about each."},
	{CondUnsupportedBoot, "Boot method not served", SeverityError, nil, 0, "Nothing was sent, and no grant was used. See the message: where firmware has the method switched off, set the attribute that it names in the BIOS settings; the agent reads them again within minutes. Else use another first boot; a BMC that shows no boot override can be ordered none: update its firmware. VirtualMedia needs a BMC with a drive for CD images, and a segment by which that BMC reaches the agent."},
	{CondNoBootChain, "No way to boot the image", SeverityError, nil, 0, "The server was not powered on. The message says of each chain of loaders why it does not fit: install loaders at the agent and name their folders in its file, or change the image or the first boot method."},
	{CondLoadersInvalid, "Boot loaders cannot be used", SeverityWarning, nil, 0, "The loaders from before stay in use. Correct the file that the message names; it is read again within a minute."},
	{CondGrantMissing, "No grant for the first boot", SeverityWarning, nil, 5 * time.Second, "The hub has not sent a grant for this claim; see the claim's conditions."},
	{CondGrantInvalid, "Grant does not fit", SeverityError, nil, 0, "The grant's signature, server, image or claim differs from the configuration; nothing is booted. Check that hub and agent belong together."},
	{CondGrantSpent, "Grant is used up", SeverityError, nil, 0, "The first boot was tried as often as the grant allows, or its boot file was fetched without the report that it waits for. Look at the console; then rackctl resume SERVER --retry --reason REASON lets the installation begin anew, or delete the claim and create it again."},
	{CondFirstBootFailed, "First boot failed", SeverityError, nil, 0, "See the attempt's reason. It is tried again while the grant allows it and nothing was fetched."},
	{CondArtefactsPending, "Boot files are being fetched", SeverityInfo, nil, 30 * time.Second, "The server is powered on when every file is local and verified."},
	{CondArtefactsFailed, "Boot files could not be fetched", SeverityError, nil, 0, "Check the registry that the message names, from the agent's host. The agent goes on trying."},
	{CondInsufficientStorage, "Not enough disk for boot files", SeverityError, nil, 0, "Free space in the agent's data folder or raise its blob quota."},
	{CondUnbound, "No server for the claim", SeverityWarning, nil, 0, "No server matches, or all that match are taken, held, or not known to be Off."},
	{CondImageInvalid, "Image does not fit the boot policy", SeverityError, nil, 0, "UefiHttp and Pxe need a UKI, or a kernel and an initramfs, for the server's architecture; VirtualMedia needs an ISO that UEFI firmware boots. Nothing was changed on the server."},
	{CondArchitectureUnknown, "Architecture of the server is not known", SeverityWarning, nil, 0, "The image or boot environment is there for several architectures, and neither the Server's spec nor its BMC nor a discovery says which one the server is, nor has its firmware by DHCP. Set spec.architecture of the Server to amd64 or arm64, or power it on once so that it asks the network for a boot: its firmware says it. Nothing was changed on the server."},
	{CondArchitectureContradicted, "Firmware says another architecture", SeverityWarning, nil, 0, "By DHCP the server's firmware says another architecture than is known of it, or than its image is for. It is refused, and nothing was taken over: DHCP is not authenticated, and anybody on the segment may have said it. If the firmware is right, set spec.architecture of the Server and boot an image for it."},
	{CondImageNotFound, "Image not found", SeverityError, nil, 0, "The registry or the catalogue has no such image, or none for the server's architecture. Push it, or correct the name: it is looked up again by itself. Nothing was changed on the server."},
	{CondImageLookup, "Image is being looked up", SeverityInfo, nil, 10 * time.Second, "The hub asks the registry for the image's digest, up to a minute, one question at a time. Nothing was changed on the server."},
	{CondRegistryUnavailable, "Registry unavailable", SeverityWarning, nil, 0, "The hub could not ask the registry for the image; it tries again by itself."},
	{CondReprovisionRequired, "Claim differs from what was booted", SeverityWarning, nil, 0, "The server keeps its installed system. To install the new image, delete the claim and create it again."},
	{CondBootUnderWay, "Change waits for the end of a boot", SeverityWarning, nil, 0, "The server boots what its claim named before. If that boot fails, the next one is of what the claim names now; if it succeeds, what it installed is kept, and the claim says ReprovisionRequired."},
	{CondHubUnverified, "Hub not verified", SeverityWarning, nil, 0, "The agent has had no fresh word of the hub for ten minutes, or none since it started. It goes on with what it has. Check the hub, and whether the broker holds messages back."},
	{CondHubBehind, "Hub is behind its agents", SeverityError, nil, 0, "The hub was restored from a copy: the agent has newer documents than the hub ever made. It makes none for this agent until you stop it and run rackboot-hub restored."},
	{CondTwoHubs, "Two hubs at once", SeverityError, nil, 0, "Another hub with this hub's keys speaks to the agent, which heeds the one that started last. Stop the other one."},
	{CondStoreLost, "Hub's store has lost something", SeverityError, nil, 0, "The hub only reads, agents go on without it, and what it does not show may be there: holds, claims, requests. rackboot-hub check lists what was lost. Put the newest copy of the hub's folder in its place, or go on with what is left: rackboot-hub restored."},
	{CondMessagesRefused, "Messages fail verification", SeverityError, nil, 0, "Messages arrive that were forged, changed, cut short or moved to another topic, and are not heeded. Look for who writes to the broker: see the message."},
	{CondNotAcknowledged, "Documents not acknowledged", SeverityWarning, []ConditionCode{CondDark}, time.Minute, "The agent's reports arrive and its acknowledgements do not. Look at the agent's conditions, and whether the broker holds messages back."},
	{CondAgentTooOld, "Agent too old", SeverityWarning, nil, 0, "The agent cannot do what is asked for, so it was not asked. Upgrade the agent; see the message."},
	{CondAwaitingHub, "Waits for the hub's word", SeverityWarning, nil, 30 * time.Second, "A first boot or a one-shot is not begun before the hub has been heard since the agent started: the agent's disk may be an old copy. Holds and boots from disk do not wait. An agent that has just started where a standby could have taken over does only what holds want until then."},
	{CondIdentityChanged, "Board or interfaces changed", SeverityError, nil, 0, "The BMC shows another serial number, UUID or set of MAC addresses than before: a board was changed, or the BMC is another server's. Nothing is powered on. If it is right, rackctl server accept SERVER. Where the message begins with other-tpm, a discovery offered another TPM than the enrolled one, which was not taken; boots go on. If the TPM was changed, rackctl server re-enrol SERVER, then rackctl server discover SERVER."},
	{CondBMCPending, "BMC found and not accepted", SeverityInfo, nil, 0, "No credentials are tried before somebody accepts it: compare the fingerprint at the BMC, then rackctl bmc accept BMC --credentials secret:NAME."},
	{CondBMCLegacyTLS, "BMC is used by TLS that is too old", SeverityInfo, nil, 0, "spec.tls.legacy of the BMC allows TLS 1.0 and 1.1, an exchange of keys by RSA or 3DES, and certificates with a negative serial number. Keep the BMC on a segment that nobody else is on, with an account that no other BMC has (rackctl bmc own BMC). When its firmware has better, take spec.tls.legacy away."},
	{CondFirmwareDrift, "Firmware is not set as wanted", SeverityWarning, []ConditionCode{CondBMCUnreachable, CondBMCDenied}, 0, "The message names the settings that are otherwise than the server's FirmwareProfile wants. rackctl firmware plan SERVER shows the values as they are now. rackctl firmware apply SERVER writes what can be had; set the rest in the firmware's menus, or correct the profile. Firmware is read again once a day, and after a plan that shows something else."},
	{CondFirmwareConflict, "Several profiles are for the server's firmware", SeverityError, nil, 0, "Selectors of several FirmwareProfiles match it, and so it is compared with none. Change a selector or the server's labels."},
	{CondMACShared, "MAC address of two servers", SeverityWarning, nil, 0, "An address was seen at two systems, which the message names. It counts for neither, and both are served by their other addresses; of a server that somebody applied, what its spec says counts. Correct the card, or apply the Server that has the address with it in spec.bootMAC or spec.macs."},
	{CondBMCInventory, "Servers and the BMC's inventory do not agree", SeverityWarning, []ConditionCode{CondBMCPending, CondDark}, 30 * time.Second, "What is behind the BMC could not be read, or no Server could be made from it, or a Server says something else; see the message. Reading is tried again by itself; a Server that exists is never changed."},
	{CondHoldExpired, "Hold has expired and is kept", SeverityWarning, nil, 0, "Its time to live is over, and it was placed with onExpiry: keep. Its owner, or an operator by break-glass, releases it: rackctl get holds."},
	{CondHoldBlocked, "Hold waits for firmware work", SeverityError, nil, 0, "The server is not stopped while its firmware is changed; it is not proved off. Wait, end the mark with rackctl server firmware SERVER --done, or place a hold with --force-during-firmware."},
	{CondHoldMalformed, "Hold cannot be read", SeverityError, nil, 0, "A hold came with a mode or an expiry that this agent does not know. It is enforced as a soft hold without an expiry. Release it and place it again."},
	{CondRestorePolicy, "Power restore policy not set", SeverityWarning, []ConditionCode{CondBMCUnreachable, CondBMCDenied}, 30 * time.Second, "The BMC may power the held server on when mains power returns; it would be forced off again. See the message; where the BIOS has the setting, set it there."},
	{CondAddressSpoofed, "A machine uses an address of another", SeverityError, nil, 0, "Its ARP packets or neighbour advertisements say so: who asks that address comes to it, such as a server that asks the agent for its boot. Find its switch port by the MAC address, and take it off the segment. Where it is another interface of the server, give it in spec.macs of the Server."},
	{CondForeignDHCP, "Another DHCP server on the segment", SeverityWarning, nil, 0, "Firmware may take its offer instead of ours and boot what it says, or wait for nothing. Take it off the segment, or set spec.service.mode of the Segment to proxy."},
	{CondBootLoop, "Boot loop", SeverityWarning, nil, 0, "A machine asked for the same boot again and again, and is refused for a while. See what is on its console: most often the boot file does not fit its firmware."},
	{CondAddressConflict, "Address used by somebody else", SeverityWarning, nil, 0, "A machine uses an address of the pool, or a reserved one, that it was not given. It is not offered for a while. Give that machine a reservation, or correct its configuration."},
	{CondPoolExhausted, "No address left on a segment", SeverityError, nil, 0, "A machine of ours asked for an address and got none; the message names segment and machines. Widen poolFrom and poolTo of the Segment, or give the machines reservations. If addresses rest because somebody declines or uses them (rackboot_dhcp_resting_addresses, AddressConflict), find who does."},
	{CondNoAddress, "Server waits for an address", SeverityError, nil, 10 * time.Second, "It asked for an address on the segment that the message names, and got none; firmware tries for a minute. See PoolExhausted of the rack's agent. Where the segment serves reservations only, give the server one."},
	{CondApprovalNeeded, "Stop waits for an approval", SeverityError, nil, 0, "More servers of the rack are to be forced off at once than its agent lets pass by the everyday key. The server stays held and is not forced off before that is approved: rackctl approve list."},
	{CondReleaseNotApproved, "Release not followed", SeverityError, nil, 0, "The hub released somebody else's hold without an approval by the destructive key, so the hold stays enforced. If nobody did so, the hub's everyday key is in foreign hands; else rackctl approve list, and release it again."},
	{CondApprovalRefused, "Approval refused", SeverityError, nil, 0, "An approval came that the destructive key did not sign for this agent and this time. Nothing was done by it; see the message. Compare rackctl describe rack with the key that signs, and the clocks."},
	{CondFirmwareNotApproved, "Firmware settings wait for an approval", SeverityError, nil, 0, "Settings of the server's firmware are to be written, and no approval by the destructive key says so. Nothing is written, and it is not powered on: rackctl approve list, or delete the maintenance. If nobody wants them written, the hub's everyday key is in foreign hands."},
	{CondFirmwareNotWritten, "Firmware settings are not all in force", SeverityError, nil, 0, "The message names the settings. The server is stopped, and nothing is tried again: rackctl firmware status SERVER shows the values before and now, and what the BMC said. What was written and not taken waits at the BMC, and counts after the server's next POST."},
	{CondWipeNotApproved, "Wipe waits for an approval", SeverityError, nil, 0, "The server is to boot what discards its disks, and no approval by the destructive key says so. It is not powered on, and nothing is sent to it: rackctl approve list, or delete the maintenance. If nobody wants the server wiped, the hub's everyday key is in foreign hands."},
	{CondInstallNotApproved, "Installation waits for an approval", SeverityError, nil, 0, "The server is to be installed again for a claim that it has a system of, and no approval by the destructive key says so. It is not powered on: rackctl approve list, or delete the claim and create it again."},
	{CondNoRouter, "No router advertisement", SeverityError, nil, 0, "No router of the segment advertises a route to the agent's IPv6 address: firmware waits 10 s for one in each boot, and the system that it boots may reach nothing. Have the router advertise the segment's prefix as on-link, or itself as the default router."},
	{CondRouterFlags, "Router advertisements lack a flag", SeverityWarning, nil, 0, "They do not send clients to DHCPv6: firmware asks all the same, and what it boots may not. Set the flag M (managed) at the segment's router, or O (other) where spec.ipv6.mode is stateless."},
	{CondIPv6NotServed, "IPv6 of a segment is not served", SeverityError, nil, 0, "The hub's Segment has spec.ipv6, and the agent's own file has no dhcp6 for it. Add dhcp6 and http6, and tftp6 for PXE, to the segment in agent.yaml and restart the agent, or remove spec.ipv6."},
	{CondSegmentOnTrial, "Changed segments are on trial", SeverityInfo, nil, 30 * time.Second, "The agent serves them and waits for the hub's word; without it they are rolled back after two minutes. Check that the agent's host still reaches the hub."},
	{CondSegmentRolledBack, "Changed segments were rolled back", SeverityError, nil, 0, "The agent heard nothing of the hub for two minutes after the Segments were changed, so that it serves them as they were before. Correct what the message names and apply it; to try the same once more, give one of them another value of the annotation rackboot/try."},
	{CondSecretUnreadable, "Secret cannot be decrypted at the hub", SeverityError, nil, 0, "The key-encryption key is not configured, cannot be had or is another one; see the message and secrets in the hub's file. Nothing is lost: the right key makes the secret readable again. Agents go on with what they have."},
	{CondSecretNotSealed, "Credentials not sealed for the agent", SeverityWarning, []ConditionCode{CondNoAgent, CondDark}, 30 * time.Second, "The agent goes on with the credentials that it has, if any. See the message: the Secret cannot be decrypted, or the agent has given no key for secrets yet and must be upgraded."},
	{CondCredentialsSealed, "Sealed credentials cannot be opened", SeverityError, nil, 0, "They were sealed for another agent, another BMC or another key, or were changed on their way; the old entry stays in force. The hub seals again when the agent has said Hello with its key. If it stays, check that the agent's identity folder is its own."},
	{CondRotating, "Account of the BMC is being changed", SeverityInfo, nil, 0, "The agent writes the next account to the BMC and proves it; the former is used until then. It waits while a hold lies on a server behind the BMC, while one boots, and while the BMC does not answer."},
	{CondRotationFailed, "Account of the BMC was not changed", SeverityError, nil, 0, "The message says why, and which account is in use. Correct that and rotate again; a BMC that took a password and refuses it may have cut it, so give --length 16. If the BMC refuses both accounts, set the password at the BMC and then the Secret."},
	{CondUserDataInvalid, "User data cannot be used", SeverityError, nil, 0, "The Secret that the claim names is gone, cannot be decrypted, or is neither Ignition nor Butane; see the message. Nothing was changed on the server; correct the Secret, and the claim goes on by itself."},
	{CondUserDataNotSealed, "User data not sealed for the agent", SeverityWarning, []ConditionCode{CondNoAgent, CondDark}, 30 * time.Second, "The first boot waits for it. See the message: the agent has given no key for secrets and must be upgraded, or the Secret was changed since the claim began, so that the version that the claim is to boot with is gone; then delete the claim and create it again."},
	{CondMediaOccupied, "Somebody else's medium is in the BMC's drive", SeverityError, nil, 0, "The server is not powered on, because firmware might boot that medium, and what somebody else inserted is not thrown out. Eject it at the BMC; the boot goes on by itself."},
	{CondMediaNotEjected, "Medium not ejected", SeverityWarning, []ConditionCode{CondBMCUnreachable, CondBMCDenied}, 30 * time.Second, "The boot has ended, and the BMC still shows its image in the drive; the agent serves it no more and goes on trying. Eject it at the BMC."},
	{CondNoConfigDrive, "No second drive for the config image", SeverityWarning, nil, 0, "The BMC has one virtual drive, or took one image only, so that the booted system is not told where to report. It learns that by DHCP option 67 if it asks for an address on a segment of the agent; else build the image so that it needs no report, and expect the first boot to end without one."},
	{CondBootURLNotCleared, "Boot URL not cleared", SeverityWarning, []ConditionCode{CondBMCUnreachable, CondBMCDenied}, 30 * time.Second, "The boot has ended, and the BMC still shows its HttpBootUri; the agent answers that URL no more and goes on trying. Set HttpBootUri of the system to null at the BMC."},
	{CondDiscoveryFailed, "Discovery given up", SeverityError, nil, 0, "It was tried as often as spec.discovery.maxAttempts of the rack allows; see the reason. Look at the server's console, correct what is wrong, then rackctl server discover SERVER."},
	{CondDiscoveryAmbiguous, "Unknown machine during several discoveries", SeverityWarning, nil, 0, "A machine that no Server names asked for a boot while several servers of its segment are being discovered, and was refused. Give the Servers their MAC addresses or UUIDs, or discover one after the other."},
	{CondNoAgent, "Rack has no agent", SeverityWarning, nil, 0, "rackctl rack join-token RACK prints the command that joins one."},
	{CondNoStandby, "Rack's standby agent is missing or silent", SeverityWarning, nil, 30 * time.Second, "The rack is to have an agent that stands by. If it has none: rackctl rack join-token RACK --standby prints the command that joins one. If it is silent, check its host and its connection to the hub."},
	{CondFrozen, "Frozen: nothing switches it on", SeverityWarning, nil, 0, "Somebody has frozen the server, as the message says. It is not switched on, restarted or armed until that ends; holds, releases and stops go on. rackctl get freezes lists them; rackctl thaw NAME ends one."},
	{CondTakenOver, "Holds of the agent before are not known", SeverityWarning, nil, 0, "The rack was taken over by its standby. Holds that were placed at the first host are on its disk only, so nothing is switched on. Run rackboot-agent local-holds on that host, then rackctl rack settle RACK --from FILE; where the disk is lost, see to it that no such hold matters, then rackctl rack settle RACK --loss-accepted --reason …"},
	{CondRevoked, "Agent revoked", SeverityError, nil, 0, "Its certificate and key are refused, it answers no boot and orders no power. Find out what became of its host; rackctl rack replace-agent RACK --reason … lets another agent join. What it held stays as it is, and nobody forces it off until then."},
	{CondSuperseded, "Term of the agent is over", SeverityError, nil, 0, "An operator gave the rack to another agent. Stop this one. To use its host again, remove identity/agent.json in its data folder and join it anew."},
	{CondCertificateExpiring, "Certificate about to end", SeverityWarning, nil, 0, "The agent renews it by itself from two thirds of its life on, and could not. It needs the hub's API; see the message. After its end the agent cannot connect to the broker, and may renew with its key for a year."},
	{CondClockBehind, "Clock behind", SeverityWarning, nil, 0, "The clock of the agent's host shows a time that has passed; the message says by how much. Set it, and look after its battery or its time servers. Until then the agent goes by the latest time that it knows."},
	{CondClockAhead, "Clock ahead", SeverityWarning, nil, 0, "The clock of the agent's host is ahead of the hub's, which goes on as before. Set it, and look after its time servers. Until then certificates may seem to have ended."},
	{CondHubClock, "Hub's clock is wrong", SeverityError, nil, 0, "The hub's clock is ahead or behind, as the message says. Set it, and look after its time servers. Racks go on with what they have; agents are back within minutes of its being right."},
	{CondClocksDiffer, "Clocks of hub and agent differ", SeverityWarning, nil, 2 * time.Minute, "Nothing tells which of the two is right; see the message for how far they are apart. Compare both with a time server and set the wrong one. The agent goes by its own clock."},
	{CondTimeDamaged, "Agent's record of the time is damaged", SeverityWarning, nil, 0, "The file that the message names could not be read or written, and the agent goes by its clock, its certificate and the hub's words. See that the host's clock is right; the file is written anew within minutes of the hub's next words. Check the disk."},
	{CondKeysRefused, "New keys of the hub refused", SeverityError, nil, 0, "The hub shows fewer or other statements of its keys than the agent has followed. It was restored from a copy that is older than the last change of keys, or somebody forges it. Restore the hub's folder pki from a newer backup."},
	{CondAgentCopied, "Two agents with one key", SeverityError, nil, 0, "Two agents speak from one disk: it was copied, or its data folder is used twice. Both guard holds and do nothing else, and nothing of the rack counts as proved off. rackctl describe agent AGENT shows where they run; stop one, and say which goes on: rackctl rack keep-agent RACK RUN --reason …. If you do not know the other, rackctl rack revoke AGENT --reason …, then rackctl rack replace-agent RACK --reason …"},
	{CondAgentRolledBack, "Agent's disk was rolled back", SeverityError, nil, 0, "The agent's store has less than the hub was told of: a snapshot or a copy was put in its place. The agent guards what was held, and does nothing else. Put the newest copy of its data folder back; if there is none, rackboot-agent accept-loss --reason REASON on its host, and it begins a new store with the holds that it has."},
	{CondNeedsDecision, "Somebody has to decide what is on the disk", SeverityWarning, nil, 0, "The server may have an installed system that Rackboot has no record of, so it is neither installed nor booted. To keep the system: rackctl server adopt SERVER --provisioned IMAGE@DIGEST --reason …; to install over it: rackctl server adopt SERVER --reprovision --reason …"},
	{CondOrphaned, "The owner of the server is not known", SeverityError, nil, 0, "The server's agent has records of a claim that did not let the server go, and that this hub does not know: it was lost with a part of the hub's store, or is another hub's. The server is not given to a claim by a selector. Apply a claim that names it in spec.serverRef; it is neither installed nor booted until you decide: rackctl server adopt SERVER --provisioned IMAGE@DIGEST --reason … keeps the system, rackctl server adopt SERVER --reprovision --reason … installs over it."},
	{CondSafeStopped, "Stopped safely after an unexpected start", SeverityWarning, nil, 0, "The server came on without an order of Rackboot and did not boot its disk; the message says what tells so, and whether that is seen or believed. Find what started it, then rackctl resume SERVER --reason REASON boots it on."},
	{CondNoStopImage, "No stop image can be given", SeverityWarning, nil, 30 * time.Second, "The rack wants machines that ask for a boot without an order stopped, and no chain of loaders is there for it: they are refused, and their firmware goes on to the next boot option. Install shim and a GRUB for the network, and name their folders under loaders in the agent's file."},
	{CondBootEnvInvalid, "Boot environment cannot be booted", SeverityError, nil, 0, "The message says what is wrong or missing: a file that was not uploaded and no repository with installSource for its os.name, a param without a value, an architecture, a template. Nothing was changed on the server; what was in force stays. Correct it, and it goes on by itself; rackctl bootenv render SERVER shows what the server would get."},
	{CondBootEnvNotSealed, "Boot environment not sealed for the agent", SeverityWarning, []ConditionCode{CondNoAgent, CondDark}, 30 * time.Second, "The boot waits for it, or goes on with what was sealed before. See the message: the agent has given no key for secrets and must be upgraded, a Secret of params cannot be decrypted, or the environment is too long."},
	{CondBootEnvRefused, "Boot environment refused by the agent", SeverityError, nil, 0, "The agent could not make the files, and serves what it served before; see the message. It goes on trying. Correct the environment, its templates or params, upload the file that is missing, or name another: rackctl bootenv set SERVER ENV --wait."},
	{CondFellBack, "Boots the image before the new one", SeverityError, nil, 0, "The new image failed as often as its group's rollout.fallbackAfter says, and the agent returned to the one before. It stays there until the group has another revision: see rackctl rollout status and rackctl group revert."},
	{CondWaitingForStamp, "Catalogue entry not proved yet", SeverityInfo, nil, 0, "No server has booted this entry under this version of the hub, or it was altered since. The group's canaries boot it first; the other servers wait. See rackctl get bootimages."},
	{CondImagesProgressing, "Group's boot image is being updated", SeverityInfo, nil, 0, "See rackctl rollout status GROUP."},
	{CondImagesDegraded, "Group's boot image cannot be updated", SeverityError, nil, 0, "The message names every cause. What was current stays current, and it is tried again by itself."},
	{CondImagesDeferred, "Group's boot image is not updated now", SeverityInfo, nil, 0, "The message says what is waited for; nothing is wrong."},
	{CondGroupSkipped, "Group is passed over", SeverityInfo, nil, 0, "It is opted in, and something else decides about its image; the message says what, and what ends it."},
	{CondGroupConflict, "Server is in two groups", SeverityError, nil, 0, "Selectors of two groups match it, and so neither rolls anything out to it. Change a selector or the server's labels."},
	{CondGroupHotLoop, "Somebody else changes the group's image", SeverityError, nil, 0, "The same image was applied several times, and somebody put another in its place each time; see who. End that, and then: rackctl group ack GROUP."},
	{CondNoRevision, "Group has no image yet", SeverityWarning, nil, 0, "The claim waits for the group's first revision; see rackctl group history GROUP and the group's conditions."},
	{CondStubRefused, "Group's user data cannot be used", SeverityError, nil, 0, "It is of a specification that the image does not read, and cannot be translated; the message has the path. Correct the Secret; rackctl ignition translate --for-group GROUP tries it as the hub does."},
	{CondStubCAExpiring, "Certificate authority in the group's user data expires", SeverityWarning, nil, 0, "Servers that boot after that cannot fetch their configuration. Put a new one into the Secret, or into spec.stub.replaceCA."},
	{CondStubCAMismatch, "Certificate authority in the group's user data is not the server's", SeverityWarning, nil, 0, "The configuration's server has another one, as spec.stub.serverCA says. Put it into the Secret, or into spec.stub.replaceCA."},
	{CondAgentNoUpgrade, "Agents cannot upgrade themselves", SeverityWarning, nil, 0, "The agents of the racks in the message have no upgrade.keys in their file, or were not started by rackboot-launcher. Give them both and restart them, or install the release there by hand; the roll-out goes on without them."},
	{CondAgentPackageMissing, "Package of agents is missing", SeverityError, nil, 0, "Nobody is told to take it. rackctl agent-package push FILE uploads it, whole; then it begins by itself."},
	{CondAgentUpgradeFailed, "Upgrade of agents failed", SeverityError, nil, 0, "Agents did not run the new release, and run the one before again unless the message says otherwise. rackctl describe agentupgrade NAME says why of each rack. Then rackctl rollout resume|abort agentupgrade/NAME --reason REASON, or apply an AgentUpgrade of a release that works: the newest that selects a rack counts."},
	{CondRolloutPaused, "Roll-out is paused", SeverityWarning, nil, 0, "The message says why and by whom. rackctl rollout resume|abort GROUP, or rackctl group revert GROUP."},
	{CondRolloutFailed, "Roll-out failed", SeverityError, nil, 0, "Servers did not come up with the revision. See rackctl rollout status GROUP for each of them."},
	{CondImageSkew, "Boot image is older than allowed", SeverityWarning, nil, 0, "The message names the oldest. Update the hub or the servers' systems only when that has been dealt with; see rackctl doctor."},
	{CondImageUnverified, "Files of a boot image are not verified", SeverityWarning, nil, 0, "They cannot be fetched, or are not what the entry says; see the message. It is tried again."},
	{CondRemoteRepo, "Boots through a remote repository", SeverityWarning, nil, 0, "Kernel, initrds or packages come through the agent from the repository that the message names, and not from a file of its own: a boot needs that repository, or what is cached of it. rackctl iso upload --from-bootenv ENV makes it local."},
}

// copied has a list of its own.
func (c Condition) copied() Condition {
	c.DependsOn = slices.Clone(c.DependsOn)
	return c
}

// Conditions is a copy of the registry, in the order in which they are explained.
func Conditions() []Condition {
	out := make([]Condition, len(conditions))
	for i, c := range conditions {
		out[i] = c.copied()
	}
	return out
}

// LookupCondition finds a condition by its code.
func LookupCondition(code ConditionCode) (Condition, bool) {
	i := slices.IndexFunc(conditions, func(c Condition) bool { return c.Code == code })
	if i < 0 {
		return Condition{}, false
	}
	return conditions[i].copied(), true
}
