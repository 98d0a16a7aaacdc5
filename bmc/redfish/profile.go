package redfish

import (
	"encoding/json"
	"slices"
	"strings"

	"rackboot/protocol"
)

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
	return append([]protocol.BootTarget{t}, sharedNames(t)...)
}

// linked is the vendor's resource for the override to which the system's Oem object links;
// empty if it links to none.
func (p profile) linked(oem map[string]json.RawMessage) (uri string) {
	if p.oemBootLink == "" {
		return ""
	}
	for _, key := range p.oem {
		if at := linkOf(fields(oem[key])[p.oemBootLink]); at != "" {
			uri = at
		}
	}
	return uri
}
