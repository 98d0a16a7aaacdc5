package redfish

import (
	"encoding/json"
	"slices"
	"strings"

	"rackboot/protocol"
)

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
	oemBootSource string

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
			mode: modeIfChanged, modeSource: "metal-operator #81, #80: an unchanged mode queues a BIOS job, a second reboot and a disk boot",
			reads:       map[protocol.BootTarget][]protocol.BootTarget{protocol.TargetPxe: {wordUefiTarget}},
			readsSource: "redfish-ansible-module #74: R640",
		},
		{
			name: "HPE iLO", oem: []string{"Hpe", "Hp"}, made: []string{"hpe", "hewlett"},
			mode: modeNever, modeSource: "ansible #3509, #3581: not writable; metal3-docs #581: iLO 5 cannot change it",
			keepTarget: true, keepTargetSource: "metal-operator #998: Enabled is refused when Target is None",
		},
		{
			name: "Supermicro", oem: []string{"Supermicro"}, made: []string{"supermicro", "super micro"},
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
			mode: modeIfChanged, modeSource: "dump of SR670 V2",
		},
		{
			name: "Fujitsu iRMC", oem: []string{"ts_fujitsu", "Fsas"}, made: []string{"fujitsu", "fsas"},
			mode: modeIfChanged, modeSource: "the OEM form has no mode",
			oemBoot:       []string{"/Oem/ts_fujitsu/BootConfig", "/Oem/Fsas/BootConfig"},
			oemBootSource: "fujitsu/terraform-provider-irmc-redfish resource_boot_source_override.go",
		},
		{
			name: "AMI MegaRAC", oem: []string{"Ami"}, made: []string{"ami", "american megatrends", "asrock", "asus", "gigabyte", "giga computing", "nvidia dgx"},
			mode: modeAlways, modeSource: "ironic VENDORS_REQUIRING_FULL_BOOT_REQUEST, ansible #11542: Mode, Enabled and Target together, for Disabled too",
		},
		{name: "standard", mode: modeIfChanged, modeSource: "DSP2046"},
	}
}

const targetCd protocol.BootTarget = "Cd"

// profileOf chooses the row for a system.
func profileOf(oem map[string]json.RawMessage, manufacturer string) profile {
	rows := profiles()
	for _, p := range rows {
		if slices.ContainsFunc(p.oem, func(k string) bool { return oem[k] != nil }) {
			return p
		}
	}
	manufacturer = strings.ToLower(manufacturer)
	for _, p := range rows {
		if slices.ContainsFunc(p.made, func(part string) bool { return matchesMaker(manufacturer, part) }) {
			return p
		}
	}
	return rows[len(rows)-1]
}

// matchesMaker compares short names by word: ami is not a part of miami.
func matchesMaker(manufacturer, part string) bool {
	if len(part) > 3 {
		return strings.Contains(manufacturer, part)
	}
	return slices.Contains(strings.FieldsFunc(manufacturer, func(r rune) bool { return r < 'a' || r > 'z' }), part)
}

// words are the BMC's names for a target, in the order to try.
func (p profile) words(t protocol.BootTarget) []protocol.BootTarget {
	if names := p.names[t]; len(names) > 0 {
		return names
	}
	switch t { // words seen with several vendors
	case protocol.TargetHdd:
		return []protocol.BootTarget{t, "UefiHdd"}
	case targetCd:
		return []protocol.BootTarget{t, "UsbCd", "CD/DVD"}
	default:
		return []protocol.BootTarget{t}
	}
}
