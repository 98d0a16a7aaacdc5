package redfish

import (
	"encoding/json"
	"slices"

	"github.com/stmcginnis/gofish/schemas"

	"rackboot/bmc"
	"rackboot/protocol"
)

// system is what boot and power control read of a ComputerSystem. It has
// gofish's Entity for addresses and ETags, and its own decoding: gofish fails
// the whole object on one field of another type than the schema's.
type system struct {
	schemas.Entity

	power         protocol.PowerState // Unknown for anything but the words of the schema
	powerWord     string              // as sent
	boot          bootObject
	hasBoot       bool
	settings      string // the settings resource; empty if there is none
	oemBoot       string // the vendor's resource that stands for the override; empty elsewhere
	profile       profile
	progress      string
	oemProgress   string
	state         string
	lastResetTime string
	manufacturer  string
	model         string
	reset         resetAction
	f             map[string]json.RawMessage // everything, for the inventory
}

// resetAction is the #ComputerSystem.Reset action.
type resetAction struct {
	target string
	types  []bmc.ResetType
	info   string // @Redfish.ActionInfo, where the types are if not inline
}

// UnmarshalJSON decodes leniently: only what is not an object at all fails.
func (s *system) UnmarshalJSON(b []byte) error {
	f := fields(b)
	if f == nil {
		return errNoObject
	}
	*s = system{
		powerWord:     textOf(f["PowerState"]),
		progress:      textOf(fields(f["BootProgress"])["LastState"]),
		oemProgress:   printable(textOf(fields(f["BootProgress"])["OemLastState"])),
		state:         printable(textOf(fields(f["Status"])["State"])),
		lastResetTime: textOf(f["LastResetTime"]),
		manufacturer:  printable(textOf(f["Manufacturer"])),
		model:         printable(textOf(f["Model"])),
		settings:      settingsURI(f),
		f:             f,
	}
	s.ODataID = textOf(f["@odata.id"])
	s.power = powerOf(s.powerWord)

	oem := fields(f["Oem"])
	s.profile = profileOf(oem, s.manufacturer)
	s.oemBoot = s.profile.linked(oem)
	s.hasBoot = len(fields(f["Boot"])) > 0

	reset := fields(fields(f["Actions"])["#ComputerSystem.Reset"])
	s.reset = resetAction{
		target: textOf(reset["target"]),
		types:  textsOf[bmc.ResetType](reset["ResetType@Redfish.AllowableValues"]),
		info:   textOf(reset["@Redfish.ActionInfo"]),
	}
	return nil
}

// located says where the system was read from, which its own @odata.id need not
// be, and completes what depends on it.
func (s *system) located(uri string) *system {
	s.ODataID = uri
	tag := s.ODataEtag // the header's, which is what If-Match is compared with
	if tag == "" {
		tag = textOf(s.f["@odata.etag"])
	}
	s.boot = decodeBoot(uri, tag, s.f["Boot"])
	return s
}

// powerOf accepts the words of Resource.PowerState, spelled exactly; null,
// empty and any other word are Unknown, which never counts as stopped.
func powerOf(word string) protocol.PowerState {
	words := []protocol.PowerState{
		protocol.PowerOn, protocol.PowerOff, protocol.PowerPoweringOn, protocol.PowerPoweringOff, protocol.PowerPaused,
	}
	if p := protocol.PowerState(word); slices.Contains(words, p) {
		return p
	}
	return protocol.PowerUnknown
}

// bootable reports whether the system is a host: baseboards that the same BMC
// lists have no reset and an empty Boot (DGX, GH200, GB200).
func (s *system) bootable() bool { return s.reset.target != "" && s.hasBoot }

// actionInfo is the ActionInfo of a reset, decoded as leniently.
type actionInfo struct {
	schemas.Entity

	types []bmc.ResetType
}

// UnmarshalJSON finds the values of the parameter ResetType.
func (a *actionInfo) UnmarshalJSON(b []byte) error {
	f := fields(b)
	if f == nil {
		return errNoObject
	}
	a.types = nil
	for _, raw := range rawsOf(f["Parameters"]) {
		if p := fields(raw); textOf(p["Name"]) == "ResetType" {
			a.types = textsOf[bmc.ResetType](p["AllowableValues"])
		}
	}
	return nil
}
