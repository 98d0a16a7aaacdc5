package convert

// Code says how a field was changed, why it has no equal or was refused, or what a manifest lacks. The
// texts are for people: programs compare the code.
type Code string

// The codes of fields that were taken or changed.
const (
	Empty           Code = "Empty"
	NameFitted      Code = "NameFitted"
	SpellingFitted  Code = "SpellingFitted"
	AddressFitted   Code = "AddressFitted"
	FirstInterface  Code = "FirstInterface"
	ToAnnotation    Code = "ToAnnotation"
	ToLabel         Code = "ToLabel"
	ToClaim         Code = "ToClaim"
	ToFirstBoot     Code = "ToFirstBoot"
	ToParam         Code = "ToParam"
	ToSecret        Code = "ToSecret"
	ImageReplaced   Code = "ImageReplaced"
	TemplateRenamed Code = "TemplateRenamed"
	Pinned          Code = "Pinned"
)

// The codes of fields without an equal.
const (
	Observed        Code = "Observed"
	UnknownField    Code = "UnknownField"
	UnknownKind     Code = "UnknownKind"
	Adopt           Code = "Adopt"
	AssetData       Code = "AssetData"
	ByHand          Code = "ByHand"
	Cleaning        Code = "Cleaning"
	CloudInit       Code = "CloudInit"
	Consumer        Code = "Consumer"
	DiskImage       Code = "DiskImage"
	FirmwareSetting Code = "FirmwareSetting"
	Inspection      Code = "Inspection"
	NetworkConfig   Code = "NetworkConfig"
	NetworkService  Code = "NetworkService"
	NoClaim         Code = "NoClaim"
	NotManaged      Code = "NotManaged"
	OneShot         Code = "OneShot"
	OtherProtocol   Code = "OtherProtocol"
	Pause           Code = "Pause"
	Placement       Code = "Placement"
	Reservation     Code = "Reservation"
	RootDevice      Code = "RootDevice"
	SharedBMC       Code = "SharedBMC"
	UnpinnedTLS     Code = "UnpinnedTLS"
	Workflow        Code = "Workflow"
)

// The codes of what was refused.
const (
	BadAddress   Code = "BadAddress"
	BadValue     Code = "BadValue"
	Duplicate    Code = "Duplicate"
	Ignored      Code = "Ignored"
	LegacyBIOS   Code = "LegacyBIOS"
	NoName       Code = "NoName"
	NoMachine    Code = "NoMachine"
	OtherMachine Code = "OtherMachine"
)

// The codes of what manifests lack.
const (
	NeedsAddress     Code = "NeedsAddress"
	NeedsBMC         Code = "NeedsBMC"
	NeedsBootMAC     Code = "NeedsBootMAC"
	NeedsCredentials Code = "NeedsCredentials"
	NeedsDecision    Code = "NeedsDecision"
	NeedsImage       Code = "NeedsImage"
	NeedsPin         Code = "NeedsPin"
	NeedsOther       Code = "NeedsOther"
	ApplyRefuses     Code = "ApplyRefuses"
)

// Meaning is what a code says to people, and what they can do.
type Meaning struct {
	Code  Code
	Means string
	Do    string // empty: there is nothing to do
}

// Meanings lists all codes in the order of the documentation.
func Meanings() []Meaning {
	return []Meaning{
		{Empty, "the field is empty", ""},
		{NameFitted, "the name is not one here, and was fitted", "use the new name in scripts"},
		{SpellingFitted, "the same is spelled otherwise here", ""},
		{AddressFitted, "the address became https://host[:port], and a path the server's systemURI", ""},
		{FirstInterface, "of several interfaces the first one is bootMAC", "change spec.bootMAC if the server boots from another"},
		{ToAnnotation, "it is kept as an annotation, which nothing acts on", ""},
		{ToLabel, "it is kept as a label", "select servers by it with -l"},
		{ToClaim, "it is the claim that says this here", ""},
		{ToFirstBoot, "the claim's bootPolicy.firstBoot says this here", ""},
		{ToParam, "it is a param, which boot environments read", ""},
		{ToSecret, "the value is in a Secret manifest, and in nothing else", "keep the manifests from others, and remove them when they are applied"},
		{ImageReplaced, "what was given with --image or --boot-env is in its place", ""},
		{TemplateRenamed, "names of templates within the text were fitted", ""},
		{Pinned, "the certificate that was given is verified instead", ""},

		{Observed, "the other tool wrote it itself, and Rackboot finds out by itself", ""},
		{UnknownField, "this converter does not know the field", "look whether it matters to you"},
		{UnknownKind, "this converter does not know the kind", "look whether it matters to you"},
		{Adopt, "that something is installed already is not believed", "apply, then rackctl server adopt"},
		{AssetData, "it is a fact of your inventory that no boot needs", "keep it there"},
		{ByHand, "Rackboot has something like it, which is not converted", "write it by hand"},
		{Cleaning, "disks are discarded by a maintenance only", "see the guide's page Decommission"},
		{CloudInit, "user data is Ignition or Butane", "write it anew, or give it to an installer with a boot environment"},
		{Consumer, "the claim is who has a server", "claim the server for it"},
		{DiskImage, "Rackboot boots a kernel, UKI or ISO, and writes no disk image", "give --image or --boot-env"},
		{FirmwareSetting, "firmware is set by a FirmwareProfile and a maintenance", "see the guide's page Firmware"},
		{Inspection, "a rack's discovery and the BMC say what a server has", "rackctl server discover"},
		{NetworkConfig, "the network of an installed system is the image's", "put it into the user data or the image"},
		{NetworkService, "addresses and options are those of a Segment", "write them into its manifest"},
		{NoClaim, "it counts for a claim, and the input claims nothing", "give it to the claim that you make"},
		{NotManaged, "Rackboot does not manage this", ""},
		{OneShot, "a request that is to be done once is not repeated", "rackctl reboot SERVER"},
		{OtherProtocol, "BMCs are reached with Redfish only", "give the Redfish address of the same BMC"},
		{Pause, "servers are kept as they are by a freeze", "rackctl freeze"},
		{Placement, "claims choose servers by name or labels", "give the servers labels, and the claim a serverSelector"},
		{Reservation, "reserved addresses are those of a Segment", "put it into spec.service.reservations of the Segment"},
		{RootDevice, "the disk is the image's or installer's choice", "set it in the image, or with the param install/disk"},
		{SharedBMC, "its BMC is that of another server, whose account is taken", ""},
		{UnpinnedTLS, "a BMC's certificate is always verified", "give --bmc-ca or --bmc-fingerprint"},
		{Workflow, "there are no tasks, stages or workflows", "put the steps into a template that the installer runs"},

		{BadAddress, "it is not an address of a BMC", "correct it in the input"},
		{BadValue, "the value is not one that this field can have", "correct it in the input"},
		{Duplicate, "another object of the input has the same name already", "rename one of both"},
		{Ignored, "the tool is told to ignore this machine", "leave it out, or remove ignore"},
		{LegacyBIOS, "only UEFI is booted", "switch the firmware to UEFI, and correct the input"},
		{NoName, "it has no name that could be fitted", "name it in the input"},
		{NoMachine, "nothing says where its BMC is or which MAC address it has", "leave out what is no server, or add one of both"},
		{OtherMachine, "its architecture is neither amd64 nor arm64", "leave it out"},

		{NeedsAddress, "the BMC has neither address nor MAC address", "add spec.address to the manifest"},
		{NeedsBMC, "the BMC is not in the input", "apply a BMC of that name, or change spec.bmcRef"},
		{NeedsBootMAC, "it is not known which MAC address the server boots from", "add spec.bootMAC to the manifest"},
		{NeedsCredentials, "the BMC's account is not in the input", "make the Secret, the file at the agent, or give --credentials"},
		{NeedsDecision, "the server has a system already, which its first boot would replace", "rackctl freeze before apply, then rackctl server adopt SERVER"},
		{NeedsImage, "it is not known what the claim boots", "give --image or --boot-env"},
		{NeedsPin, "the BMC's certificate is not known", "give --bmc-ca or --bmc-fingerprint"},
		{NeedsOther, "something that is referred to is not in the input", "apply it first, or correct the reference"},
		{ApplyRefuses, "apply refuses the field as it is", "see what rackctl apply --dry-run says, and correct it"},
	}
}

// Meaning is what the code says; ok is false for one that there is not.
func (c Code) Meaning() (m Meaning, ok bool) {
	for _, m := range Meanings() {
		if m.Code == c {
			return m, true
		}
	}
	return Meaning{}, false
}
