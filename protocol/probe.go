package protocol

// ProbeVersion is the version of Probe's JSON. It grows when a field changes
// its meaning, not when one is added.
const ProbeVersion = 1

// Probe is what this BMC can do, what would be written where, what is missing
// and how to get it.
type Probe struct {
	Version  int      `json:"version"`
	Profile  string   `json:"profile"`  // the table row that the properties selected
	Firmware string   `json:"firmware"` // the BMC's own
	BIOS     string   `json:"bios,omitempty"`
	Login    string   `json:"login"` // session or basic, and why
	Power    string   `json:"power"` // as read now
	Resets   []string `json:"resets,omitempty"`

	Boot   []BootPlan `json:"boot"`
	Disarm BootPlan   `json:"disarm"`
	HTTP   []HTTPBoot `json:"http"` // the ladder, first to be used first
	Media  MediaSlot  `json:"media"`

	Inventory Inventory `json:"inventory"`
}

// HTTPBootWay is a way to tell firmware the URI of an HTTP boot.
type HTTPBootWay string

// The ways.
const (
	HTTPByDHCP       HTTPBootWay = "DHCP"         // option 67 or 59 of the agent: works with every vendor
	HTTPByBootURI    HTTPBootWay = "HttpBootUri"  // Boot.HttpBootUri of the standard
	HTTPByDellDevice HTTPBootWay = "HttpDev1"     // Dell BIOS attributes
	HTTPByHPEURL     HTTPBootWay = "UrlBootFile"  // HPE BIOS attributes
	HTTPByStack      HTTPBootWay = "NetworkStack" // Supermicro and Lenovo: the firmware's HTTP client must be switched on
)

// HTTPBoot is one way, as this server stands to it. Only DHCP and what has to be
// switched on for it is used without being asked for.
type HTTPBoot struct {
	Way     HTTPBootWay       `json:"way"`
	Present bool              `json:"present"`
	Ready   bool              `json:"ready"`             // nothing has to be written first
	Where   string            `json:"where,omitempty"`   // the path that would be written
	Current map[string]string `json:"current,omitempty"` // values now; URIs are not shown
	Write   map[string]string `json:"write,omitempty"`   // what would be written
	Reset   string            `json:"reset,omitempty"`   // what must follow the write
	Why     string            `json:"why,omitempty"`
}

// MediaSlot says how virtual media would be inserted.
type MediaSlot struct {
	Supported bool   `json:"supported"`
	Slot      string `json:"slot,omitempty"`
	Method    string `json:"method,omitempty"` // InsertMedia or PATCH
	Inserted  bool   `json:"inserted,omitempty"`
	Why       string `json:"why,omitempty"`
}

// BootWrite is one PATCH of a boot plan.
type BootWrite struct {
	URI  string `json:"uri"`
	Body any    `json:"body"` // nil values are JSON nulls, which clear
}

// BootPlan is what SetBoot would write for one target now.
type BootPlan struct {
	Target    BootTarget  `json:"target"`
	Supported bool        `json:"supported"`
	Writes    []BootWrite `json:"writes,omitempty"` // empty and supported: nothing to change
	Why       string      `json:"why,omitempty"`
	Remedy    string      `json:"remedy,omitempty"`
}
