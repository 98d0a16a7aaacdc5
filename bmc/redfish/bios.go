package redfish

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// readBIOS reads the BIOS attributes, of which a few matter here.
func (v *survey) readBIOS() {
	uri := linkOf(v.system.f["Bios"])
	v.bios = v.get("Bios", uri)
	if v.bios == nil {
		return
	}
	v.biosAt = settingsURI(v.bios.f)
	if v.biosAt == "" {
		v.biosAt = uri
	}
}

// attributes are the BIOS attributes as text; empty if there are none.
func (v *survey) attributes() attributes {
	if v.bios == nil {
		return nil
	}
	out := attributes{}
	for name, raw := range fields(v.bios.f["Attributes"]) {
		out[name] = attributeText(raw)
	}
	return out
}

func attributeText(raw json.RawMessage) string {
	if s := textOf(raw); s != "" {
		return printable(s)
	}
	if s := strings.TrimSpace(string(raw)); s != "null" && s != `""` && len(s) < 64 {
		return printable(s)
	}
	return ""
}

// attributes are BIOS attributes by name.
type attributes map[string]string

// find is the attribute of that name, or the first whose name continues it with
// the number of its question (IPv4HTTPSupport_00F5, IPv4HTTPSupport#00F5).
func (a attributes) find(name string) (full, value string, ok bool) {
	if v, ok := a[name]; ok {
		return name, v, true
	}
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if rest, is := strings.CutPrefix(k, name); is && (rest[0] == '_' || rest[0] == '#') {
			return k, a[k], true
		}
	}
	return "", "", false
}
