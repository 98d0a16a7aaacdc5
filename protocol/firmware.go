package protocol

import "strings"

// Firmware is what a BMC shows of the settings of its server's firmware, as far as they were asked
// for. Values are as the BMC spells them.
type Firmware struct {
	SystemURI string `json:"systemURI"`
	Vendor    string `json:"vendor,omitempty"`
	Model     string `json:"model,omitempty"`
	// Family is the row of the driver's table that the BMC's properties selected.
	Family string `json:"family,omitempty"`

	BootOptions []BootOption `json:"bootOptions,omitempty"` // in boot order, then the rest
	SecureBoot  *SecureBoot  `json:"secureBoot,omitempty"`  // nil: not known
	FirmwareSettings
	Problems []PartProblem `json:"problems,omitempty"`
	// Setup is whether the BMC has firmware end POST in its own menus (BootSourceOverrideTarget
	// BiosSetup): settings are written only where it does.
	Setup Offer `json:"setup,omitempty"`
	// Writable says that it is known how the vendor's settings are written.
	Writable bool `json:"writable,omitempty"`
}

// At is the value at a place of a [FirmwareChange]; not there where the BMC does not show it.
func (f Firmware) At(where string) (v FirmwareValue, there bool) {
	switch where {
	case FirmwareAtOrder:
		return FirmwareValue{Name: where, Value: strings.Join(f.BootOrder, FirmwareOrderWords), Reset: true}, len(f.BootOrder) > 0
	case FirmwareAtSecureBoot:
		if f.SecureBoot == nil {
			return v, false
		}
		v = FirmwareValue{Name: where, Value: "Off", Reset: true}
		if f.SecureBoot.Enabled {
			v.Value = "On"
		}
		return v, true
	case f.Restore.Name:
		return f.Restore.FirmwareValue, where != ""
	case f.HTTPURL.Name:
		return f.HTTPURL.FirmwareValue, where != ""
	}
	for _, n := range f.HTTPURL.Needs {
		if n.Name == where {
			return n.FirmwareValue, true
		}
	}
	for _, s := range f.Switches {
		if s.Name == where {
			return s.FirmwareValue, true
		}
	}
	for _, a := range f.Attributes {
		if a.Name == where {
			return a.FirmwareValue, true
		}
	}
	return v, false
}

// Places of settings that are no BIOS attributes; PowerRestorePolicy is one too, where the BMC has it.
const (
	FirmwareAtOrder      = "Boot.BootOrder"
	FirmwareAtSecureBoot = "SecureBootEnable"
	FirmwareAtRestore    = "PowerRestorePolicy"
)

// FirmwareOrderWords joins the options of a boot order in a value: names of options have spaces (Lenovo).
const FirmwareOrderWords = ", "

// FirmwareSettings are those that an inventory has not by itself.
type FirmwareSettings struct {
	// BootOrder is that of the next boot, where a BMC has it (AMI shows none in the system).
	BootOrder []string `json:"bootOrder,omitempty"`

	Restore  FirmwareRestore  `json:"restore,omitzero"`
	Switches []FirmwareSwitch `json:"switches,omitempty"`
	HTTPURL  FirmwareURL      `json:"httpURL,omitzero"`
	// Attributes are those of Asked that are there. A name has several where
	// the numbers of their questions are all that tells them apart.
	Attributes []FirmwareAttribute `json:"attributes,omitempty"`
	// Asked are the names that were asked for.
	Asked []string `json:"asked,omitempty"`
	// BIOS says that the BIOS attributes could be read.
	BIOS bool `json:"bios,omitempty"`
}

// FirmwareValue is a property of a BMC's resource, or a BIOS attribute.
type FirmwareValue struct {
	// Name is the property, or the attribute with the number of its question
	// (IPv4HTTPSupport_00F5).
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	// Waits is another value that was written and counts after the server's next reset
	// (@Redfish.Settings); empty: none.
	Waits string `json:"waits,omitempty"`
	// ReadOnly, Secret and Values are of the attribute registry, where it was read. The value of
	// one that is secret is never read.
	ReadOnly bool     `json:"readOnly,omitempty"`
	Secret   bool     `json:"secret,omitempty"`
	Values   []string `json:"values,omitempty"` // that it may have; empty: not known
	// Reset says that a value counts only after the server's next reset.
	Reset bool `json:"reset,omitempty"`
}

// FirmwareRestore is where it is set what the server does when mains power returns; without a
// name, nowhere.
type FirmwareRestore struct {
	FirmwareValue
	Policy RestorePolicy `json:"policy,omitempty"` // empty: the value says none
	// Words are the values to write.
	Words map[RestorePolicy]string `json:"words,omitempty"`
}

// FirmwareSwitch is a BIOS attribute that switches a way of booting from the network, or the shell.
type FirmwareSwitch struct {
	FirmwareValue
	Of OptionKind `json:"of,omitempty"` // http, pxe or shell; empty: http and pxe together
	// On is the value to write to switch it on. Any other than Off is on.
	On  string `json:"on"`
	Off string `json:"off"`
}

// FirmwareURL is the BIOS attribute with a URL that firmware boots by HTTP; without a name, nowhere.
type FirmwareURL struct {
	FirmwareValue
	// Needs are attributes without which the URL is not used.
	Needs []FirmwareNeed `json:"needs,omitempty"`
}

// FirmwareNeed is an attribute that has to fit a URL.
type FirmwareNeed struct {
	FirmwareValue
	HTTP  string `json:"http"`  // the value for a URL of http
	HTTPS string `json:"https"` // of https
	// Off is the one value with which the URL is not used; empty: all but HTTP or HTTPS.
	Off string `json:"off,omitempty"`
}

// FirmwareAttribute is a BIOS attribute that was asked for.
type FirmwareAttribute struct {
	FirmwareValue
	Asked string `json:"asked"`
}

// MaxFirmwareAttributes is how many BIOS attributes are asked for at once.
const MaxFirmwareAttributes = 64

// FirmwareHindrance is why a setting cannot be had.
type FirmwareHindrance string

// The hindrances.
const (
	FirmwareUnread    FirmwareHindrance = "unread"    // it could not be read
	FirmwareNotShown  FirmwareHindrance = "not-shown" // the BMC has no such setting
	FirmwareAmbiguous FirmwareHindrance = "ambiguous" // several attributes have the name
	FirmwareReadOnly  FirmwareHindrance = "read-only"
	FirmwareSecret    FirmwareHindrance = "secret"    // a password
	FirmwareBadValue  FirmwareHindrance = "bad-value" // the attribute may not have it
	FirmwareNoOption  FirmwareHindrance = "no-option" // no boot option is of the kind
	// FirmwareContradicts is that another setting of the profile wants another value there.
	FirmwareContradicts FirmwareHindrance = "contradicts"
	// FirmwareUnsupported is that it is not known how the vendor's settings are written. FirmwareNoSetup is that
	// the BMC does not have firmware end POST in its menus, so that POST would go on to a boot.
	FirmwareUnsupported FirmwareHindrance = "unsupported"
	FirmwareNoSetup     FirmwareHindrance = "no-setup"
	// FirmwareTooLong is that what it is set to has no place in what is kept: it could not be put back.
	FirmwareTooLong FirmwareHindrance = "too-long"
)

// FirmwareHindrances lists them.
func FirmwareHindrances() []FirmwareHindrance {
	return []FirmwareHindrance{FirmwareUnread, FirmwareNotShown, FirmwareAmbiguous, FirmwareReadOnly, FirmwareSecret, FirmwareBadValue, FirmwareNoOption, FirmwareContradicts, FirmwareUnsupported, FirmwareNoSetup, FirmwareTooLong}
}

// FirmwareChange is a setting that is not as wanted.
type FirmwareChange struct {
	// Setting is the field of the profile: bootOrder, http, attributes.NAME.
	Setting string `json:"setting"`
	// Where is the property or BIOS attribute; empty where there is none.
	Where  string `json:"where,omitempty"`
	Today  string `json:"today,omitempty"`
	Wanted string `json:"wanted"`
	// Waits is the value that was written already and counts after the next reset.
	Waits string `json:"waits,omitempty"`
	// Reset says that it needs a reset of the server.
	Reset bool `json:"reset,omitempty"`
	// Hindrance is why it cannot be had; empty: it can.
	Hindrance FirmwareHindrance `json:"hindrance,omitempty"`
	// Text says more about the hindrance, for people.
	Text string `json:"text,omitempty"`
	// Order is Wanted of a boot order, option by option.
	Order []string `json:"order,omitempty"`
}
