package resource

import "slices"

// AttemptCode says in one word why an attempt failed. The reason beside it has the
// particulars.
type AttemptCode string

// The codes.
const (
	AttemptPostRefused     AttemptCode = "PostRefused"
	AttemptNotStored       AttemptCode = "OverrideNotStored"
	AttemptReplaced        AttemptCode = "Replaced"
	AttemptInterrupted     AttemptCode = "Interrupted"
	AttemptPowerFailed     AttemptCode = "PowerFailed"
	AttemptOverrideIgnored AttemptCode = "OverrideIgnored"
	AttemptWrongMethod     AttemptCode = "WrongMethod"
	AttemptAskedByHTTP     AttemptCode = "AskedByHTTP"
	AttemptAskedByPXE      AttemptCode = "AskedByPXE"
	AttemptNoDHCP          AttemptCode = "NoDHCP"
	AttemptFetchFailed     AttemptCode = "FetchFailed"
	AttemptNoReport        AttemptCode = "NoReport"
	AttemptIdentity        AttemptCode = "Identity"
	AttemptWithdrawn       AttemptCode = "Withdrawn"
	AttemptOutcomeUnknown  AttemptCode = "OutcomeUnknown"
	AttemptMediaRefused    AttemptCode = "MediaRefused"
	AttemptMediaNotRead    AttemptCode = "MediaNotRead"
	AttemptImageFailed     AttemptCode = "ImageFailed"
	AttemptDiverted        AttemptCode = "Diverted"
)

// AttemptFailure is a registered reason why attempts fail. Hint says what to do.
type AttemptFailure struct {
	Code  AttemptCode
	Title string
	Hint  string
}

// attemptFailures is the registry, in the order in which an attempt meets them.
var attemptFailures = []AttemptFailure{
	{AttemptPostRefused, "The BMC takes no boot override now", "It refuses changes while the server starts, or a job waits. Look at the BMC's job queue; power the server off and try again."},
	{AttemptNotStored, "The BMC did not store the boot override", "The server was not powered on. rackctl bmc probe shows what the BMC can store; update its firmware, or choose another first boot method."},
	{AttemptReplaced, "Somebody else changed the boot override", "Find who else writes to the BMC: another tool, or a person at its page."},
	{AttemptInterrupted, "The server's power changed in the middle", "Something outside Rackboot powered the server on or off. Find who has access to the BMC or the power button."},
	{AttemptPowerFailed, "The BMC did not power the server on", "Look at the BMC's log for power and hardware faults."},
	{AttemptOverrideIgnored, "Firmware did not take the boot override", "The server is On and has not booted by it. Look at its console: it may wait in its setup, or ask for a key."},
	{AttemptWrongMethod, "Firmware booted by another method", "Check the boot order, and that the method is enabled in the firmware settings."},
	{AttemptAskedByHTTP, "Firmware asked by UEFI HTTP boot under an order of Pxe", "It was refused. Turn PXE on in the firmware settings, boot by UefiHttp, or set bootPolicy.network to any: then it is served by HTTP."},
	{AttemptAskedByPXE, "Firmware asked by PXE under an order of UefiHttp", "It was refused. Turn HTTP boot on in the firmware settings, boot by Pxe, or set bootPolicy.network to any: then it is served by TFTP."},
	{AttemptNoDHCP, "Firmware did not ask for an address", "Check that network boot is enabled on the interface with spec.bootMAC (rackctl bmc probe shows what the firmware's HTTP client lacks), its cable and its VLAN, and that the agent listens on the segment. Where all of that is right, update the BMC's firmware: some take the override back when power comes on."},
	{AttemptDiverted, "Somebody on the boot segment may have the server load another file", "The server was stopped: what runs on it could read the secrets in its drive. Take the other DHCP server, or the machine that uses the agent's address, off the segment; see the agent's conditions. By an https boot URL firmware verifies who sends the file."},
	{AttemptFetchFailed, "Firmware asked and did not fetch its boot files", "Check the route from the server to the segment's base URL, its firewall, and for HTTPS the certificate in the firmware."},
	{AttemptNoReport, "The boot files were fetched and nobody reported", "Look at the console: the image may have stopped, or not know where to report. It reports by POST to the URL that it was given."},
	{AttemptIdentity, "The server shows another identity", "A board was changed, or the BMC is another server's. If it is right: rackctl server accept SERVER."},
	{AttemptWithdrawn, "It was not wanted any more", "A hold, a reboot, a change of power or another owner ended it. Nothing has to be done."},
	{AttemptOutcomeUnknown, "What became of it is not known", "The agent was away at the moment that counts. It is not repeated by guess; look at the server's console."},
	{AttemptMediaRefused, "The BMC did not take the image into its drive", "The server was not powered on. Check that the BMC can reach the base URL of its segment, and that it has a licence for virtual media; see the reason."},
	{AttemptMediaNotRead, "Firmware did not boot from the BMC's drive", "The BMC was not seen to read the image after the server was powered on. Check that booting from USB or CD is enabled in the firmware settings, and the route from the BMC to the agent."},
	{AttemptImageFailed, "The image reported that it failed", "The reason has its message. Nothing boots from the network again by itself where the grant is for one boot."},
}

// AttemptFailures is a copy of the registry, in the order in which an attempt meets them.
func AttemptFailures() []AttemptFailure { return slices.Clone(attemptFailures) }

// LookupAttempt finds a failure by its code.
func LookupAttempt(code AttemptCode) (AttemptFailure, bool) {
	for _, f := range attemptFailures {
		if f.Code == code {
			return f, true
		}
	}
	return AttemptFailure{}, false
}
