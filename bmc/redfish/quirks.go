package redfish

import (
	"time"

	"rackboot/protocol"
)

// This file has what is known of vendors' BMCs and cannot be seen in what they show. A
// new quirk of a kind that is known is a line here, with its source.

// modeRule is when BootSourceOverrideMode is written.
type modeRule string

const (
	modeIfChanged modeRule = "only if it changes"
	modeAlways    modeRule = "always"
	modeNever     modeRule = "never"
)

// profile is what is known about a family of BMCs and cannot be seen in what
// they show. A profile is chosen by properties that are present; what can be
// seen (where properties live, what is allowed) is never in it.
type profile struct {
	name string
	oem  []string // keys of the system's Oem object; any of them selects
	made []string // parts of Manufacturer, in lower case, where no Oem key selects

	mode       modeRule
	modeSource string

	// keepTarget: Disabled is written with the target that is armed, not with None.
	keepTarget       bool
	keepTargetSource string

	// names are the BMC's words to write for a target, in order; the first that it
	// allows is taken.
	names       map[protocol.BootTarget][]protocol.BootTarget
	namesSource string

	// oemBoot are paths below the system of a vendor's resource that stands for the
	// override; the one that exists is written instead.
	oemBoot       []string
	oemBootLink   string // what links to it in the Oem object, where that has it
	oemBootSource string

	// firmware: how its firmware settings are written is known. oneJob: a change of them makes a job,
	// beside which no other is taken before the next reset.
	firmware, oneJob bool
	firmwareSource   string

	// reads are other words under which a target is read back.
	reads       map[protocol.BootTarget][]protocol.BootTarget
	readsSource string
}

// profiles is the table; the last row is everybody else. Each source names the
// project whose issue, code or notes told it.
func profiles() []profile {
	return []profile{
		{
			name: "Dell iDRAC", oem: []string{"Dell"}, made: []string{"dell"},
			firmware: true, oneJob: true, firmwareSource: "quads #726: OnReset makes the job; bmclib #467: SYS011 between SecureBoot and Bios/Settings",
			mode: modeIfChanged, modeSource: "metal-operator #81, #80: an unchanged mode queues a BIOS job, a second reboot and a disk boot",
			reads:       map[protocol.BootTarget][]protocol.BootTarget{protocol.TargetPxe: {wordUefiTarget}},
			readsSource: "redfish-ansible-module #74: R640",
		},
		{
			name: "HPE iLO", oem: []string{"Hpe", "Hp"}, made: []string{"hpe", "hewlett"},
			firmware: true, firmwareSource: "captured tree of a DL385: bios/settings, which is the whole",
			mode: modeNever, modeSource: "ansible #3509, #3581: not writable; metal3-docs #581: iLO 5 cannot change it",
			keepTarget: true, keepTargetSource: "metal-operator #998: Enabled is refused when Target is None",
		},
		{
			name: "Supermicro", oem: []string{"Supermicro"}, made: []string{"supermicro", "super micro"},
			firmware: true, firmwareSource: "captured tree of an SYS-821GE: Bios/SD",
			mode: modeAlways, modeSource: "Redfishtool #106, ironic story 2008547, metal-operator #607: reverts to default unless sent each time; #982: X10 has none",
			names: map[protocol.BootTarget][]protocol.BootTarget{
				targetCd: {"UsbCd", targetCd, "CD/DVD"}, protocol.TargetHdd: {protocol.TargetHdd, "UefiHdd"},
			},
			namesSource: "sushy system.py: virtual media is UsbCd but on ARS-111GL-NHR; dump of X10",
			reads:       map[protocol.BootTarget][]protocol.BootTarget{protocol.TargetPxe: {wordBootNext}, targetCd: {"UsbCd"}},
			readsSource: "libredfish supermicro.rs",
		},
		{
			name: "Lenovo XCC", oem: []string{"Lenovo"}, made: []string{"lenovo"},
			firmware: true, firmwareSource: "dump of SR670 V2: Bios/Pending",
			mode: modeIfChanged, modeSource: "dump of SR670 V2",
		},
		{
			name: "Fujitsu iRMC", oem: []string{"ts_fujitsu", "Fsas"}, made: []string{"fujitsu", "fsas"},
			mode: modeIfChanged, modeSource: "the OEM form has no mode",
			oemBoot:       []string{"/Oem/ts_fujitsu/BootConfig", "/Oem/Fsas/BootConfig"},
			oemBootLink:   "BootConfig",
			oemBootSource: "fujitsu/terraform-provider-irmc-redfish resource_boot_source_override.go",
		},
		{
			name: "AMI MegaRAC", oem: []string{"Ami"}, made: []string{"ami", "american megatrends", "asrock", "asus", "gigabyte", "giga computing", "nvidia dgx"},
			firmware: true, firmwareSource: "pubs.lenovo.com/tsm: Bios/SD with If-Match",
			mode: modeAlways, modeSource: "ironic VENDORS_REQUIRING_FULL_BOOT_REQUEST, ansible #11542: Mode, Enabled and Target together, for Disabled too",
		},
		{name: "standard", mode: modeIfChanged, modeSource: "DSP2046"},
	}
}

const targetCd protocol.BootTarget = "Cd"

// sharedNames are other words for a target that several vendors have.
func sharedNames(t protocol.BootTarget) []protocol.BootTarget {
	switch t {
	case protocol.TargetHdd:
		return []protocol.BootTarget{"UefiHdd"}
	case targetCd:
		return []protocol.BootTarget{"UsbCd", "CD/DVD"}
	default:
		return nil
	}
}

// loginMessages say that it is the credentials that were refused, with whatever
// status (iLO answers 400 UnauthorizedLoginAttempt).
var loginMessages = []string{
	"UnauthorizedLoginAttempt", "NoValidSession", "InsufficientPrivilege", "ResourceAtUriUnauthorized",
	"AccountForSessionNoLongerExists", "AuthenticationTokenRequired", "PasswordChangeRequired", "AccountNotModified",
	"AccountLocked", "InvalidCredentials", "LoginFailed", "RAC0212", "SYS403",
}

// sessionMessages say that the BMC holds no more sessions.
var sessionMessages = []string{"RAC0218", "SessionLimitExceeded", "CreateLimitReachedForResource"}

// postMessages are refused changes that pass with POST.
var postMessages = []string{
	"UnableToModifyDuringSystemPOST", // HPE iLO 4 to 6
	"SYS518",                         // Dell: data sources not ready (503)
}

// stateMessages are refusals for the present state that come with status 400.
var stateMessages = []string{
	"InvalidOperationForSystemState", // HPE: already on or off, or just after a change
	"PSU501",                         // Dell: already in the state
	"ActionParameterValueConflict",   // iDRAC 10: On within a minute of off
	"ResourceInUse",
	"SYS011", // Dell: another job of the same kind waits
}

// unsupportedMessages are refusals that no retry changes.
var unsupportedMessages = []string{
	"ActionNotSupported",
	"ActionParameterNotSupported",
	"ActionParameterUnknown",
	"ActionParameterValueNotInList",
	"PropertyNotWritable",
	"PropertyNotWritableOrUnknown", // HPE
	"PropertyUnknown",
	"PropertyValueNotInList",
	"UnsupportedOperation",               // HPE iLO 6
	"OperationSupportedInFutureStateURI", // AMI: only at /SD
	"PropertyBlockedByFixedBootOrder",    // AMI: while the fixed boot order is on
}

// capMessages say that the BMC holds no more subscriptions, with whatever status.
var capMessages = []string{"EventSubscriptionLimitExceeded", "SubscriptionLimitExceeded", "CreateLimitReachedForResource"}

// mustChange is the message of a BMC that wants another password first; its first
// argument is the account to change (DSP0266, password change required).
const mustChange = "PasswordChangeRequired"

// onTooSoon are messages that refuse an On that only time is missing for (iDRAC 10).
var onTooSoon = []string{"ActionParameterValueConflict"}

// onPause is how long to wait where iDRAC 10 refuses On, which it does for up to
// 60 s after an off (ironic tries 6 times, 10 s apart).
const onPause = 10 * time.Second

// futureStateMessages refuse a boot change that AMI takes at another resource below the system,
// futureState, which only this error names (Tacklebox #144).
var futureStateMessages = []string{"OperationSupportedInFutureStateURI"}

const futureState = "/SD"

// powerMessages are messages of log entries about the host's power: Supermicro (captured tree of an
// SYS-821GE-TNHR), and iLO.
var powerMessages = []string{"SystemPowerAction", "ServerPoweredOn"}

// restoreAttribute is a BIOS attribute with the power restore policy, and its words for it.
type restoreAttribute struct{ name, lastState, off, on string }

// restoreAttributes are those of vendors that keep the policy there: Supermicro, Dell, HPE. The words for the last
// state are of captured trees, the others of the vendors' manuals.
var restoreAttributes = []restoreAttribute{
	{"RestoreonACPowerLoss", "Last State", "Stay Off", "Power On"},
	{"AcPwrRcvry", "Last", "Off", "On"},
	{"AutoPowerOn", "RestoreLastState", "AlwaysPowerOff", "AlwaysPowerOn"},
}

// httpStackAttributes are the switch of the firmware's HTTP client where it has one:
// Supermicro ships IPv4HTTPSupport_00F5=Disabled, and UefiHttp is offered all
// the same (libredfish supermicro.rs); Lenovo prefixes the name.
var httpStackAttributes = []string{"IPv4HTTPSupport", "NetworkStackSettings_IPv4HTTPSupport", "Ipv4HttpSupport"}

// stackSwitch is a BIOS attribute that switches a way of booting from the network; all of them where it
// names no kind.
type stackSwitch struct {
	kind          protocol.OptionKind
	name, off, on string
}

// stackSwitches: a way is on if any of its own is; HPE's shell is a boot option if both are. The names are AMI's and Supermicro's, Lenovo's
// (libredfish's trees), HPE's and Dell's, which has devices.
var stackSwitches = []stackSwitch{
	{"", "NetworkStack", "Disabled", "Enabled"},
	{protocol.OptionHTTP, "IPv4HTTPSupport", "Disabled", "Enabled"},
	{protocol.OptionHTTP, "IPv6HTTPSupport", "Disabled", "Enabled"},
	{protocol.OptionHTTP, "Ipv4HttpSupport", "Disabled", "Enabled"},
	{protocol.OptionHTTP, "Ipv6HttpSupport", "Disabled", "Enabled"},
	{protocol.OptionHTTP, "NetworkStackSettings_IPv4HTTPSupport", "Disabled", "Enabled"},
	{protocol.OptionHTTP, "NetworkStackSettings_IPv6HTTPSupport", "Disabled", "Enabled"},
	{protocol.OptionHTTP, "HttpSupport", "Disabled", "Auto"},
	{protocol.OptionHTTP, "HttpDev1EnDis", "Disabled", "Enabled"},
	{protocol.OptionHTTP, "HttpDev2EnDis", "Disabled", "Enabled"},
	{protocol.OptionHTTP, "HttpDev3EnDis", "Disabled", "Enabled"},
	{protocol.OptionHTTP, "HttpDev4EnDis", "Disabled", "Enabled"},
	{protocol.OptionPXE, "IPv4PXESupport", "Disabled", "Enabled"},
	{protocol.OptionPXE, "IPv6PXESupport", "Disabled", "Enabled"},
	{protocol.OptionPXE, "Ipv4PxeSupport", "Disabled", "Enabled"},
	{protocol.OptionPXE, "Ipv6PxeSupport", "Disabled", "Enabled"},
	{protocol.OptionPXE, "NetworkStackSettings_IPv4PXESupport", "Disabled", "Enabled"},
	{protocol.OptionPXE, "NetworkStackSettings_IPv6PXESupport", "Disabled", "Enabled"},
	{protocol.OptionPXE, "PxeDev1EnDis", "Disabled", "Enabled"},
	{protocol.OptionPXE, "PxeDev2EnDis", "Disabled", "Enabled"},
	{protocol.OptionPXE, "PxeDev3EnDis", "Disabled", "Enabled"},
	{protocol.OptionPXE, "PxeDev4EnDis", "Disabled", "Enabled"},
	{protocol.OptionShell, "UefiShellBootOrder", "Disabled", "Enabled"},
	{protocol.OptionShell, "EmbeddedUefiShell", "Disabled", "Enabled"},
}

// bootURL is a BIOS attribute with a URL that firmware boots, and what it needs besides.
type bootURL struct {
	name  string
	needs []urlNeed
}

// urlNeed is an attribute that has to have a value for URLs of http, and one for those of https; with off, any but that.
type urlNeed struct{ name, http, https, off string }

// bootURLs is the table: Dell (bmclib #463, #464; with another TlsMode firmware refuses a URL of http, UEFI0417: #470) and
// HPE (libredfish #76). The first of each is the one that counts: Dell's device 1, which HTTP boots of orders use as well.
func bootURLs() []bootURL {
	return []bootURL{
		{"HttpDev1Uri", []urlNeed{{"HttpDev1EnDis", "Enabled", "Enabled", "Disabled"}, {"HttpDev1TlsMode", "None", "OneWay", ""}}},
		{"UrlBootFile", []urlNeed{{"HttpSupport", "Auto", "Auto", "Disabled"}, {"PreBootNetwork", "Auto", "Auto", "Disabled"}}},
	}
}

// attributesWithin are BIOS attributes that are read-only while another has not its value, by how their names begin
// (iDRAC-Redfish-Scripting #306).
var attributesWithin = []struct{ prefix, name, value string }{
	{"HttpDev1", "HttpDev1EnDis", "Enabled"},
	{"HttpDev2", "HttpDev2EnDis", "Enabled"},
	{"HttpDev3", "HttpDev3EnDis", "Enabled"},
	{"HttpDev4", "HttpDev4EnDis", "Enabled"},
}

// reservedSlot is the account of an iDRAC that is not for users; its slots are fixed.
const reservedSlot = "1"

// internalWords are in the Id, Name or Description of an EthernetInterface, in lower case, that
// leads to the BMC: the words of several vendors.
var internalWords = []string{"tomanager", "tohost", "manager ethernet", "host interface", "usb", "ipmi", "bmc"}

// tmfifoPrefix begins the addresses of the network between a BlueField and its host, which are the
// same with every card (captured tree: 00:1a:ca:ff:ff:01 in its boot options).
const tmfifoPrefix = "00:1a:ca:ff:ff:"

// partNames begin the names of systems that are parts of a host, whatever they show: the
// baseboard of a GH200 lists boot targets as the host does (captured tree).
var partNames = []string{"HGX_Baseboard_"}
