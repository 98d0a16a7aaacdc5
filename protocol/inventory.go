package protocol

import "time"

// Inventory is what a BMC says about a server. Lists are in a stable order.
type Inventory struct {
	SystemURI    string      `json:"systemURI"`
	Vendor       string      `json:"vendor,omitempty"`
	Model        string      `json:"model,omitempty"`
	Serial       string      `json:"serial,omitempty"`
	UUID         string      `json:"uuid,omitempty"`
	UUIDProblem  string      `json:"uuidProblem,omitempty"` // why the UUID identifies nothing; then do not match by it
	Architecture string      `json:"architecture,omitempty"`
	Interfaces   []Interface `json:"interfaces,omitempty"`

	BootMode    string       `json:"bootMode,omitempty"` // UEFI or Legacy
	BootOrder   []string     `json:"bootOrder,omitempty"`
	BootOptions []BootOption `json:"bootOptions,omitempty"` // in boot order, then the rest
	SecureBoot  *SecureBoot  `json:"secureBoot,omitempty"`  // nil: not known

	// Media is what the BMC has of virtual media; nil: not known.
	Media *MediaDrives `json:"media,omitempty"`

	Restore   Restore       `json:"restore"`
	SafeStop  SafeStop      `json:"safeStop"`
	Detection Detection     `json:"detection"`
	Offers    Offers        `json:"offers,omitzero"`
	Problems  []PartProblem `json:"problems,omitempty"`

	// Firmware is how the firmware is set, where it was asked for; nil elsewhere. Values may be
	// secret: it is shown to nobody.
	Firmware *FirmwareSettings `json:"firmware,omitempty"`
}

// MACs are the addresses of the host's own interfaces.
func (i Inventory) MACs() []string {
	var out []string
	for _, n := range i.Interfaces {
		if n.Internal == "" {
			out = append(out, n.MAC)
		}
	}
	return out
}

// Brief is the inventory without its lists, as it stands in a list of BMCs.
func (i Inventory) Brief() Inventory {
	i.Interfaces, i.BootOrder, i.BootOptions, i.Problems, i.Firmware = nil, nil, nil, nil, nil
	return i
}

// Interface is a network interface.
type Interface struct {
	MAC      string   `json:"mac"` // 02:00:00:00:00:01
	Name     string   `json:"name,omitempty"`
	Sources  []string `json:"sources"`            // EthernetInterfaces, NetworkDeviceFunctions, BootOptions
	Internal string   `json:"internal,omitempty"` // why it is no way to the network: it leads to the BMC
}

// OptionKind is what a boot option boots from.
type OptionKind string

// The kinds.
const (
	OptionPXE      OptionKind = "pxe"
	OptionHTTP     OptionKind = "http"
	OptionDisk     OptionKind = "disk"
	OptionCD       OptionKind = "cd"
	OptionUSB      OptionKind = "usb"
	OptionShell    OptionKind = "shell"
	OptionFirmware OptionKind = "firmware" // setup and other built-in applications
	OptionOther    OptionKind = "other"
)

// BootOption is a UEFI boot option, classified by its device path, then its
// name; never by Alias, which is wrong where it exists (AMI).
type BootOption struct {
	Reference string     `json:"reference"` // Boot0019, as in BootOrder
	Name      string     `json:"name,omitempty"`
	Path      string     `json:"path,omitempty"`
	Kind      OptionKind `json:"kind"`
	MAC       string     `json:"mac,omitempty"`
	IP        int        `json:"ip,omitempty"` // 4 or 6
	Disabled  bool       `json:"disabled,omitempty"`
}

// MediaDrives are the virtual drives of a BMC that take an image by URL.
type MediaDrives struct {
	// Boot are those for CD images, Other those for USB sticks: one of these can have the
	// config image where there is one drive for CD images.
	Boot  int `json:"boot"`
	Other int `json:"other,omitempty"`
}

// Config says whether there is a drive for the config image beside that of the boot.
func (d MediaDrives) Config() bool { return d.Boot+d.Other > 1 }

// SecureBoot is the state of UEFI Secure Boot.
type SecureBoot struct {
	Enabled bool `json:"enabled"` // for the next boot
	Current bool `json:"current"` // in the present one
}

// Restore is what the server does when mains power returns.
type Restore struct {
	Policy   RestorePolicy `json:"policy,omitempty"` // empty: not known
	Where    string        `json:"where,omitempty"`  // PowerRestorePolicy, or the BIOS attribute
	Value    string        `json:"value,omitempty"`  // as the BMC spells it
	Writable bool          `json:"writable,omitempty"`
}

// SafeStopClass is how far firmware order keeps a disk from booting when
// somebody else powers the server on.
type SafeStopClass string

// The classes, best first.
const (
	SafeStopShellFirst     SafeStopClass = "ShellFirst"     // the shell is the first boot option
	SafeStopNetworkFirst   SafeStopClass = "NetworkFirst"   // the network is: firmware asks the agent
	SafeStopShellAvailable SafeStopClass = "ShellAvailable" // there is one, which can be put first
	SafeStopShellByBIOS    SafeStopClass = "ShellByBIOS"    // a BIOS attribute and a reset bring one
	SafeStopNone           SafeStopClass = "None"           // none that firmware would run
	SafeStopUnknown        SafeStopClass = "Unknown"        // could not be read
)

// SafeStop is the class of a server, the reason and what would raise it.
type SafeStop struct {
	Class  SafeStopClass `json:"class"`
	Option string        `json:"option,omitempty"` // the boot option that is the shell, or the first one that is the network
	Reason string        `json:"reason,omitempty"`
	Remedy string        `json:"remedy,omitempty"`
}

// DetectionClass is by what an unexpected power transition is noticed.
type DetectionClass string

// The classes, best first.
const (
	DetectReset  DetectionClass = "ResetTime" // a reset between two polls shows in LastResetTime
	DetectLog    DetectionClass = "Log"       // a power cycle between two polls shows in the BMC's log
	DetectEvents DetectionClass = "Events"    // the BMC streams events, which may be lost
	DetectPoll   DetectionClass = "Poll"      // only what lasts from one poll to the next
)

// Detection says what is noticed, and how soon.
type Detection struct {
	Class         DetectionClass `json:"class"`
	LastResetTime bool           `json:"lastResetTime"`           // present, and a plausible time
	Stream        string         `json:"stream,omitempty"`        // the path of the event stream
	Subscriptions string         `json:"subscriptions,omitempty"` // the collection for webhooks
	PowerLog      string         `json:"powerLog,omitempty"`      // the collection of log entries that power-ons are read from
	PollInterval  time.Duration  `json:"pollInterval"`            // nanoseconds; to poll at
	Reason        string         `json:"reason,omitempty"`
}

// PartProblem is a part that could not be read.
type PartProblem struct {
	Part string `json:"part"`
	Code Code   `json:"code"`
	Text string `json:"text"`
}

// RestorePolicy is what a server does when mains power returns (Redfish
// ComputerSystem.PowerRestorePolicy).
type RestorePolicy string

// The policies.
const (
	RestoreAlwaysOn  RestorePolicy = "AlwaysOn"
	RestoreAlwaysOff RestorePolicy = "AlwaysOff"
	RestoreLastState RestorePolicy = "LastState"
)
