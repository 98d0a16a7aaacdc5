package resource

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"rackboot/protocol"
)

// FirmwareProfile is how the firmware of some servers is to be set. It is compared with what their
// BMCs show; nothing is written by it, but by a [Maintenance] that somebody has made of it. A setting
// that it does not name may be anything.
type FirmwareProfile struct {
	Header
	Spec FirmwareProfileSpec `json:"spec"`
}

// FirmwareProfileSpec is the profile. At least one setting is given.
type FirmwareProfileSpec struct {
	// Selector selects servers by their labels. A server that two profiles select has neither.
	Selector Selector `json:"selector"`
	// BootOrder is by what firmware boots, the first first: a [BootClass], or devicePath: and the
	// path of a boot option (UEFI specification, chapter 10) in which * is anything. Options of one
	// entry keep their order, and those of none come after all of them. Of the first entry the server must have
	// an option; a later one of which it has none is passed over.
	BootOrder []BootClass `json:"bootOrder,omitempty"`
	// HTTP and PXE are whether firmware boots by these at all. On is that one of its ways is on
	// (IPv4, IPv6, a device), Off that none is.
	HTTP Power `json:"http,omitempty"`
	PXE  Power `json:"pxe,omitempty"`
	// HTTPURL is the URL of http or https that firmware keeps for HTTP boot (Dell's HttpDev1Uri, HPE's
	// UrlBootFile), of up to 255 bytes; empty is none, so that firmware asks DHCP for one. A URL that is wanted has what it
	// needs set as well. Without the field it may be anything.
	HTTPURL *string `json:"httpURL,omitempty"`
	// PowerRestore is what the server does when mains power returns.
	PowerRestore protocol.RestorePolicy `json:"powerRestore,omitempty"`
	SecureBoot   Power                  `json:"secureBoot,omitempty"`
	// SafeStop is where firmware is to lead when somebody else powers the server on, as it is reported of servers:
	// ShellFirst or NetworkFirst. What it needs of boot order and Secure Boot is set as well.
	SafeStop protocol.SafeStopClass `json:"safeStop,omitempty"`
	// Attributes are BIOS attributes by the vendor's names and words; numbers, true and false
	// are written as texts. The number of its question may be left out of a name: IPv4HTTPSupport is
	// IPv4HTTPSupport_00F5.
	Attributes map[string]string `json:"attributes,omitempty"`
}

// BootClass is what a boot option boots from.
type BootClass string

// The classes. Network is PXE and HTTP.
const (
	BootNetworkOptions BootClass = "network"
	BootDiskOptions    BootClass = "disk"
	BootCDOptions      BootClass = "cd"
	BootUSBOptions     BootClass = "usb"
	BootShellOptions   BootClass = "shell"
)

// BootClasses lists the classes.
func BootClasses() []BootClass {
	return []BootClass{BootNetworkOptions, BootDiskOptions, BootCDOptions, BootUSBOptions, BootShellOptions}
}

const bootPathPrefix = "devicePath:"

// Path is the pattern of a device path; not ok for a class.
func (c BootClass) Path() (pattern string, ok bool) {
	return strings.CutPrefix(string(c), bootPathPrefix)
}

// Bounds of a profile.
const (
	maxBootEntries   = 16
	maxBootPattern   = 512 // bytes
	maxAttributeText = 256 // bytes of a name or a value
	maxBootURL       = 255 // bytes, as option 67 of DHCP has
)

// Default sets kind and version.
func (p *FirmwareProfile) Default() { p.APIVersion, p.Kind = APIVersion, KindFirmwareProfile }

// Validate reports wrong fields.
func (p *FirmwareProfile) Validate() protocol.FieldErrors {
	var f fields
	p.check(&f)
	s := p.Spec
	s.Selector.check(&f, "spec.selector", "an empty selector would match every server")
	if len(s.BootOrder) == 0 && s.HTTP == "" && s.PXE == "" && s.PowerRestore == "" && s.SecureBoot == "" && s.SafeStop == "" && s.HTTPURL == nil && len(s.Attributes) == 0 {
		f.Add("spec", "says nothing of firmware; give bootOrder, http, pxe, httpURL, powerRestore, secureBoot, safeStop or attributes")
	}
	if s.HTTPURL != nil {
		checkBootURL(&f, *s.HTTPURL)
	}
	checkBootOrder(&f, s.BootOrder)
	for _, x := range []struct {
		path  string
		value Power
	}{{"spec.http", s.HTTP}, {"spec.pxe", s.PXE}, {"spec.secureBoot", s.SecureBoot}} {
		if x.value != "" {
			oneOf(&f, x.path, x.value, WantOn, WantOff)
		}
	}
	if s.PowerRestore != "" {
		oneOf(&f, "spec.powerRestore", s.PowerRestore, protocol.RestoreAlwaysOff, protocol.RestoreLastState, protocol.RestoreAlwaysOn)
	}
	if s.SafeStop != "" {
		oneOf(&f, "spec.safeStop", s.SafeStop, protocol.SafeStopShellFirst, protocol.SafeStopNetworkFirst)
	}
	checkAttributes(&f, s.Attributes)
	return f.FieldErrors
}

func checkBootOrder(f *fields, order []BootClass) {
	if len(order) > maxBootEntries {
		f.Add("spec.bootOrder", "has %d entries, and may have %d", len(order), maxBootEntries)
	}
	for i, c := range order {
		at := fmt.Sprintf("spec.bootOrder[%d]", i)
		if slices.Contains(order[:i], c) {
			f.Add(at, "%s is given twice", c)
		}
		pattern, isPath := c.Path()
		switch {
		case !isPath && !slices.Contains(BootClasses(), c):
			f.Add(at, "%q is none of %v, and does not begin with %s", string(c), BootClasses(), bootPathPrefix)
		case isPath && (strings.Trim(pattern, "* ") == "" || len(pattern) > maxBootPattern):
			f.Add(at, "give a device path of up to %d bytes, such as %s*NVMe(*", maxBootPattern, bootPathPrefix)
		}
	}
}

// checkBootURL wants a URL that firmware can fetch, or none.
func checkBootURL(f *fields, text string) {
	const at = "spec.httpURL"
	u, err := url.Parse(text)
	switch {
	case text == "":
	case len(text) > maxBootURL || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		f.Add(at, "give a URL of up to %d bytes of printable ASCII, without spaces", maxBootURL)
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		f.Add(at, "give http://host/path or https://host/path, or \"\" for none")
	case u.User != nil:
		f.Add(at, "has a user name or password, and a profile is readable; firmware sends none")
	case u.Fragment != "":
		f.Add(at, "has a fragment, which is not sent")
	}
}

func checkAttributes(f *fields, all map[string]string) {
	if len(all) > protocol.MaxFirmwareAttributes {
		f.Add("spec.attributes", "has %d, and may have %d", len(all), protocol.MaxFirmwareAttributes)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		at := "spec.attributes[" + name + "]"
		if !attributeText(name) || name == "" || strings.ContainsFunc(name, unicode.IsSpace) {
			f.Add(at, "is no name of a BIOS attribute: up to %d bytes without spaces", maxAttributeText)
		}
		if !attributeText(all[name]) {
			f.Add(at, "the value has more than %d bytes, or control characters", maxAttributeText)
		}
	}
}

func attributeText(s string) bool {
	return len(s) <= maxAttributeText && !strings.ContainsFunc(s, unicode.IsControl)
}

// FirmwarePlan is what a profile would change at a server, by what its BMC shows now.
type FirmwarePlan struct {
	Server  string `json:"server"`
	Profile string `json:"profile"`
	Vendor  string `json:"vendor,omitempty"`
	Model   string `json:"model,omitempty"`
	// Family is the row of the driver's table that the BMC is of.
	Family string `json:"family,omitempty"`
	// Changes is empty where all is as the profile wants it.
	Changes  []protocol.FirmwareChange `json:"changes"`
	Problems []protocol.PartProblem    `json:"problems,omitempty"`
}
