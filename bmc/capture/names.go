package capture

import (
	"slices"
	"strings"
)

// kind is what a property's name says of its value.
type kind string

// The kinds.
const (
	kindOpen   kind = "open"   // not known: an enumeration is kept, what may name something is not
	kindText   kind = "text"   // of the hardware and of Redfish: kept, but for the identities in it
	kindFigure kind = "figure" // a version, which may look like an address: kept
	kindUUID   kind = "uuid"
	kindSerial kind = "serial"
	kindHost   kind = "host"
	kindUser   kind = "user"
	kindSecret kind = "secret" // and whatever else is nobody's business: not kept at all
)

// textNames are properties whose values are kept: Redfish's own vocabulary, and names that vendors give
// to hardware. What is not here is judged by its value.
var textNames = []string{
	"@odata.id", "@odata.type", "@odata.nextlink", "members@odata.nextlink", "@redfish.actioninfo", "target", "id", "name", "displayname", "description", "alias",
	"uefidevicepath", "bootoptionreference", "bootorder", "bootnext", "model", "manufacturer", "vendor", "product", "oem",
	"processorarchitecture", "instructionset", "processortype", "systemtype", "managertype", "serversenteventuri", "messageid", "connectedvia",
	"mediatypes", "datetime", "lastresettime", "created", "bootdevice", "uefitargetbootsourceoverride", "stopbootonfault",
}

// denied are parts of names, in lower case, by what their values are. The first that fits counts.
var denied = []struct {
	part string
	is   kind
}{
	{"password", kindSecret},
	{"passwd", kindSecret},
	{"passphrase", kindSecret},
	{"secret", kindSecret},
	{"token", kindSecret},
	{"certificatestring", kindSecret},
	{"credential", kindSecret},
	{"privatekey", kindSecret},
	{"publickey", kindSecret},
	{"sshkey", kindSecret},
	{"community", kindSecret},
	{"licensekey", kindSecret},
	{"email", kindSecret},
	{"contact", kindSecret},
	{"phone", kindSecret},
	{"postaladdress", kindSecret},
	{"physicallocation", kindSecret},
	{"latitude", kindSecret},
	{"longitude", kindSecret},
	{"adminname", kindSecret},
	{"otherinfo", kindSecret},
	{"messageargs", kindSecret},
	{"username", kindUser},
	{"accountname", kindUser},
	{"primaryowner", kindUser},
	{"createdby", kindUser},
	{"hostname", kindHost},
	{"fqdn", kindHost},
	{"dnsname", kindHost},
	{"domain", kindHost},
	{"servername", kindHost},
	{"systemname", kindHost},
	{"uuid", kindUUID},
	{"serialnumber", kindSerial},
	{"serialno", kindSerial},
	{"assettag", kindSerial},
	{"asset_tag", kindSerial},
	{"servicetag", kindSerial},
	{"servicecode", kindSerial},
	{"uniqueid", kindSerial},
	{"nodeid", kindSerial},
	{"wwn", kindSerial},
	{"wwpn", kindSerial},
	{"wwnn", kindSerial},
	{"iqn", kindSerial},
	{"nguid", kindSerial},
	{"durablename", kindSerial},
	{"initiatorname", kindSerial},
}

// kindOf is what a property's name says of its value.
func kindOf(name string) kind {
	name = strings.ToLower(name)
	if name == "sku" { // Dell's service tag
		return kindSerial
	}
	for _, d := range denied {
		if strings.Contains(name, d.part) {
			return d.is
		}
	}
	switch {
	case strings.HasSuffix(name, "version"), strings.HasSuffix(name, "revision"):
		return kindFigure
	case slices.Contains(textNames, name), strings.HasSuffix(name, "@redfish.allowablevalues"):
		return kindText
	}
	return kindOpen
}

// kindIn is kindOf among BIOS attributes as well, where NumaDomain is Enabled: there a value has to tell.
func kindIn(name, value string, attributes bool) kind {
	is := kindOf(name)
	if attributes && (is == kindHost || is == kindUser || is == kindSerial) && !telling(value) {
		return kindOpen
	}
	return is
}

// placeholders are what vendors put where they have no value, in lower case.
var placeholders = []string{
	"none", "n/a", "na", "null", "unknown", "not specified", "not available", "not settable", "default string", "system serial number", "to be filled by o.e.m.",
	"to be filled by oem", "empty", "0123456789",
}

// placeholder says whether a value names nothing.
func placeholder(s string) bool {
	s = strings.ToLower(strings.TrimSpace(s))
	return s == "" || strings.Trim(s, s[:1]) == "" || slices.Contains(placeholders, s)
}

// commonWords name no one: users that each BMC has, and values of settings whose names look like something
// else.
var commonWords = []string{
	"admin", "administrator", "root", "operator", "user", "userid", "readonly", "guest", "oem", "system", "service", "redfish", "systems", "managers",
	"enabled", "disabled", "auto", "true", "false", "uefi", "legacy", "present", "local", "default", "localhost",
}
